"""The runs and corpora that cells read, and the measurements in their files."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fathom.config.measurement_keys import SCORES, rule_of, words_of
from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.files import is_there
from fathom.io.records import Recorded, read_record
from fathom.results.measurements import FINISHED, Measurements, Number, Record, mean_words, read
from fathom.results.recipe import stale
from fathom.results.training_record import in_tf32, stale_code

if TYPE_CHECKING:
    from fathom.scoring.sentences import SentenceCounts

T = TypeVar("T")
NOT_RUN = "not run"
NOT_MEASURED = "not measured"
OTHER_DECODING = "other decoding"
SERIES_LOST = "series damaged or lost"
MISSING = (NOT_RUN, NOT_MEASURED, OTHER_DECODING)  # what may become a number later begins so
CORPUS = 0  # the seed of a corpus
# With the gates of the training's own validation.
_VALID_NLL = ("nll.valid.plain", "nll.valid.soft")
# What a run without a result has nevertheless.
WITHOUT_RESULT = ("parameters",)
_DETAIL = re.compile(r" at update \d+| \([\d.]+ \w+ the unigram\)")
_HASH = re.compile(r"-[0-9a-f]{8}$")


class SeriesLost(FathomError):
    """A series of a training that has ended is damaged or lost; what shows it leaves it out."""

    @property
    def note(self) -> str:
        """What a reader is told."""
        return f"{Path(self.where).name} is damaged or lost"


@dataclass(frozen=True)
class Reading:
    """What one seed has for one key: a record, or the words that take its place."""

    words: str = ""  # why there is no record
    detail: str = ""  # what a note adds to the words
    record: Record | None = None
    outcome: bool = False  # whether the words are the training's outcome
    stale: str = ""  # which stages have another recipe than made the record, or a method other code


@dataclass(frozen=True)
class ResultSource:
    """A run with its seeds, or a corpus, which has one folder under the seed CORPUS."""

    name: str  # `<paper>/<run>` or a data set
    folders: Mapping[int, Path]  # the folder of measurement files by seed
    # File name, without suffix, of a measurement's key. The name of what depends on a decoding ends
    # in a hash of the decoding's settings.
    stem: Callable[[str], str]
    identity: str = ""  # SHA-256 that its files must have; empty accepts any
    comparable: bool = False  # whether all of its settings are the paper's
    unproved: str = ""  # why its text is not known to be the paper's, where counts could prove it
    rebuilt: bool = False  # whether its text is the paper's but for some lines
    needs: str = ""  # the file that its text waits for, which only the user can get
    unused: tuple[int, ...] = ()  # further seeds with which the run was trained
    # The folder of a decoding by seed, split and gates; None for a corpus.
    decoding: Callable[[int, str, str], Path] | None = None
    # What tasks are called whose text is not what their name says.
    shown_as: Mapping[str, str] = field(default_factory=dict)
    text: str = ""  # the title of its data set, where that is not the paper's
    layers: str = ""  # of a run, as in `12/24`, or `24` of an encoder alone
    updates: int | str | None = None  # how many a run is trained for; None for a corpus
    paper_layers: str = ""  # the same with the paper's settings
    by_construction: tuple[str, ...] = ()  # what a corpus is drawn to have, as the paper prints
    hard_gates: str = ""  # which layers its hard gates leave out, in words
    average_of: int = 1  # how many saved weights are averaged before they are measured
    method: str = ""  # of its network
    settings: Callable[[], Mapping[str, float]] = dict  # those that are numbers, by path
    # The parameters of its network, as far as they are known without a training.
    untrained_size: Callable[[], int | None] = lambda: None
    _cache: dict[Any, Any] = field(default_factory=dict, repr=False)

    def missing(self, words: str = NOT_RUN) -> str:
        """Return words for what it does not have, with the file that it waits for."""
        return f"{words}: needs {self.needs}" if self.needs else words

    @property
    def unused_words(self) -> str:
        """The seeds that are trained and not shown, in words; empty without any."""
        names = ", ".join(map(str, self.unused))
        return f"seed {names} is trained and not shown" if names else ""

    @property
    def tf32_words(self) -> str:
        """Which seeds were trained in TF32, in words; empty unless others were not."""
        paths = {seed: folder.parent / "training.json" for seed, folder in self.folders.items()}
        records = {seed: read_record(path) for seed, path in paths.items() if is_there(path)}
        seeds = [seed for seed, record in records.items() if in_tf32(record["device"])]
        mixed = 0 < len(seeds) < len(records)
        return f"trained in TF32 with seed {', '.join(map(str, seeds))} alone" if mixed else ""

    def files(self, key: str) -> dict[int, Path]:
        """Return the file that holds a measurement, by seed."""
        return {seed: folder / f"{self.stem(key)}.json" for seed, folder in self.folders.items()}

    def readings(self, key: str) -> Iterator[tuple[int, Reading]]:
        """Yield seed and reading for each seed that was run."""
        for seed, path in self.files(key).items():
            reading = self._reading(seed, path, key)
            if reading.words != NOT_RUN:
                yield seed, reading

    def training(self, seed: int) -> Measurements | None:
        """Return what the training of a seed measured by itself; None before it has ended."""
        return self.read(self.folders[seed] / "training.json", seed)

    def recorded(self, seed: int, name: str) -> Path:
        """Return a file of a training; of one that has ended, another is refused as SeriesLost."""
        record = self.folders[seed].parent / "training.json"
        if is_there(record):
            files = Recorded.of(record)
            if name in files.files or files.path(name).exists():
                try:
                    files.require(name)
                except FathomError as error:
                    raise SeriesLost(error.what, error.where, error.remedy) from None
        return record.parent / name

    def sentences(self, key: str, seed: int, task: str) -> "SentenceCounts | None":
        """Return what was counted in each sentence of a score; None where nothing is stored."""
        from fathom.scoring.sentences import read as read_sentences

        if self.decoding is None:
            return None
        _, qualifiers = words_of(key)
        folder = self.decoding(seed, qualifiers["split"], qualifiers["gates"])
        if (rule := rule_of(key)) != SCORES:
            folder /= rule
        return self.kept((folder, task), lambda: read_sentences(folder, task))

    def read(self, path: Path, seed: int) -> Measurements | None:
        """Return the content of a file of a run and seed, None without one; it is read once."""
        return self.kept(path, lambda: self._checked(path, seed) if is_there(path) else None)

    @property
    def files_read(self) -> list[Path]:
        """The measurement files that were read."""
        return [path for path, file in self._cache.items() if isinstance(path, Path) and file]

    def kept(self, key: object, make: Callable[[], T]) -> T:
        """Return what was made for a key, or make it."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def stale_words(self, file: Measurements) -> str:
        """Return in words which stages' recipe is not today's, and whether its method's code is."""
        words = [f"{stage}: {words}" for stage, words in stale(file.recipe).items()]
        if file.seed and self.method:
            record = self.folders[file.seed].parent / "training.json"
            words.append(self.kept(("code", record), lambda: stale_code(record, self.method)))
        return "; ".join(filter(None, words))

    def _reading(self, seed: int, path: Path, key: str) -> Reading:
        """Return a record, or why there is none: an outcome, another decoding, or nothing run."""
        file, unmeasured = self.read(path, seed), Reading(NOT_MEASURED, f"{self.name}: {key}")
        kind, _, setting = key.partition(".")
        numbers = self.settings() if file is not None and kind == "setting" else {}
        if setting in numbers:
            return Reading(record=Record(all=Number(value=numbers[setting])))
        if file is not None:
            outcome = None if key in WITHOUT_RESULT else _outcome(file)
            if outcome is None and key in file.measurements:
                record = file.measurements[key]
                training = self.training(seed) if key in _VALID_NLL else None
                last = training.measurements.get("last_validation") if training else None
                worse = mean_words(record, last, self.average_of)
                return Reading(detail=worse, record=record, stale=self.stale_words(file))
            return outcome or unmeasured
        measured = path.with_name("training.json")
        training = self.read(measured, seed)
        if training is None and (measured.parents[1] / measured.name).is_file():
            raise FathomError("no such file", str(measured), again(measured))
        if training is None:
            waiting = replace(unmeasured, words=self.missing(NOT_MEASURED))
            return waiting if seed == CORPUS else Reading(NOT_RUN)
        files = sorted(path.parent.glob(f"{_HASH.sub('', path.stem)}-????????.json"))
        if _HASH.search(path.stem) and files:
            detail = f"{self.name} seed {seed}: {files[0].stem}, but config asks for {path.stem}"
            unmeasured = Reading(OTHER_DECODING, detail)
        return _outcome(training) or unmeasured

    def _checked(self, path: Path, seed: int) -> Measurements:
        training = self.folders[seed].parent / "training.json"
        if is_there(training):
            read_record(training)  # what says how the run ended must be as it was written
        file = read(path)
        expected = (self.identity or file.identity, seed or file.seed)
        if (file.identity, file.seed) != expected:
            what = f"measurements of another run than {self.name} seed {seed}"
            raise FathomError(what, str(path), "move the file to its own run's folder")
        # The names of these files do not tell which weights they are of.
        if file.settings.get("average_of", self.average_of) != self.average_of:
            raise FathomError("measured with other weights", str(path), again(path))
        return file


def other_text(sources: Iterable[ResultSource]) -> str:
    """Return the text that takes the place of the paper's, in words; nothing where none does."""
    titles = dict.fromkeys(source.text for source in sources if source.text)
    return f" Text: {'; '.join(titles)}." if titles else ""


def outcome_words(file: Measurements) -> str:
    """Return the outcome of a training without a result as a cell prints it; else nothing."""
    if file.outcome in (None, FINISHED):
        return ""
    words = str(file.outcome).replace("_", " ")
    if file.outcome == "diverged" and file.update is not None:
        words += f" at update {file.update}"
    if file.outcome == "failed_to_train" and (above := file.above_unigram) is not None:
        words += f" ({abs(above):.2f} {'above' if above >= 0 else 'below'} the unigram)"
    return words


def without_update(words: str) -> str:
    """Return an outcome without the update at which it came, and without its NLL."""
    return _DETAIL.sub("", words)


def lost_words(outcomes: Iterable[str], seeds: int) -> str:
    """Return how many of several seeds ended without a result: `2 of 5 seeds diverged`."""
    kinds = Counter(map(without_update, outcomes)) if seeds > 1 else {}
    return ", ".join(f"{count} of {seeds} seeds {kind}" for kind, count in kinds.items())


def _outcome(file: Measurements) -> Reading | None:
    words = outcome_words(file)
    return Reading(words, outcome=True) if words else None
