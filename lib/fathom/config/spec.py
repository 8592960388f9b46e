"""What a run is, resolved: its checked settings, its data, and what they are hashed to.

A spec has no scale and no seed: two scales with equal settings share a run's folder.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fathom.config.schema import run as settings
from fathom.config.schema.run import Subwords
from fathom.io.records import identity, short


def full_name(paper: str, run: str) -> str:
    """Return `<paper>/<run>` of a run that a paper's files name, with or without its paper."""
    return run if "/" in run else f"{paper}/{run}"


@dataclass(frozen=True)
class DataSpec:
    """Which text, in which direction, in which pieces."""

    settings: settings.DataSettings
    tasks: tuple[str, ...]  # in the order of the data set
    # The data set with its sources' checksums, cleaning and split: another definition is another
    # run. With `pieces_of`, also that of the data set whose pieces are used.
    definition: dict[str, Any] = field(repr=False)
    pieces_definition: dict[str, Any] | None = field(default=None, repr=False)

    @property
    def dataset(self) -> str:
        """The data set's name."""
        return self.settings.dataset

    @property
    def target_tokens(self) -> dict[str, str]:
        """The token of each task's target language, named as in fairseq; none without a place."""
        if self.settings.target_token == "none":
            return {}
        # Only one-to-many translation has a place: all targets are in the tasks' own languages.
        return {task: f"__{language}__" for task, language in self.definition["tasks"]}

    @property
    def target_languages(self) -> dict[str, str]:
        """The language into which each task is translated; of text without pairs, its own."""
        languages: dict[str, str] = dict(self.definition["tasks"])
        pivot: str = self.definition.get("pivot", "")
        if pivot and into_pivot(self.definition, self.settings.direction):
            return dict.fromkeys(languages, pivot)
        return languages

    @property
    def test_parts(self) -> tuple[str, ...]:
        """The names of the parts of the test set that are scored alone, too."""
        return tuple(self.definition.get("split", {}).get("parts", ()))

    @property
    def subwords(self) -> Subwords:
        """How text becomes pieces."""
        return self.settings.subwords

    @cached_property
    def subwords_identity(self) -> str:
        """The hash of what determines the subword models and dictionaries."""
        return identity(
            {
                "definition": self.pieces_definition or self.definition,
                "direction": self.settings.direction,
                "subwords": self.subwords.identity(),
            }
        )

    @property
    def hashed(self) -> dict[str, Any]:
        """What is hashed: definitions in place of the data sets' names."""
        hashed = self.settings.identity() | {"dataset": self.definition}
        if self.pieces_definition is not None:
            hashed["pieces_of"] = self.pieces_definition
        return hashed

    @cached_property
    def corpus_folder(self) -> str:
        """The name of the corpus's folder."""
        return f"{self.dataset}-{short(identity(self.definition))}"

    @property
    def pieces_corpus_folder(self) -> str:
        """The name of the folder of the corpus from which the subwords are learned."""
        name = self.settings.pieces_of or self.dataset
        return f"{name}-{short(identity(self.pieces_definition or self.definition))}"

    @property
    def subwords_folder(self) -> str:
        """The name of the folder of subword models and dictionaries."""
        return f"{self.settings.pieces_of or self.dataset}-{short(self.subwords_identity)}"

    @cached_property
    def folder(self) -> str:
        """The name of the folder of tensors."""
        return f"{self.dataset}-{short(identity(self.hashed))}"


@dataclass(frozen=True)
class StartSpec:
    """The finished run, of the same seed, whose decoded weights a run starts from.

    Its last `average_of` saved weights are averaged; with `freeze` they stay as they are, and only
    what the method adds is trained.
    """

    paper: str
    run: str
    identity: str
    average_of: int
    freeze: bool

    @classmethod
    def of(cls, spec: "Spec", freeze: bool) -> "StartSpec":
        """Return the start from a run."""
        average_of = spec.decoding.average_of if spec.decoding else 1
        return cls(spec.paper, spec.run, spec.identity, average_of, freeze)

    @property
    def name(self) -> str:
        """That run's name over all papers: `<paper>/<run>`."""
        return f"{self.paper}/{self.run}"

    @property
    def folder(self) -> str:
        """The name of that run's folder."""
        return f"{self.run}-{short(self.identity)}"

    @property
    def hashed(self) -> dict[str, Any]:
        """What is hashed: the run's identity in place of its name."""
        return {"run": self.identity, "average_of": self.average_of, "freeze": self.freeze}


@dataclass(frozen=True)
class Spec:
    """A training with everything that determines it, and how it is decoded."""

    paper: str  # its folder in config/papers
    run: str  # the name in its runs.yaml
    data: DataSpec
    model: settings.Model
    method: settings.MethodSettings
    training: settings.TrainingSettings
    outcome: settings.Outcome
    masking: settings.Masking | None
    start: StartSpec | None
    # With which it may be decoded: "plain", or "soft" and "hard"; the first validates.
    gates: tuple[str, ...]
    decoding: settings.Decoding | None  # None for a network without a decoder
    scoring: settings.Scoring

    @property
    def name(self) -> str:
        """The run's name over all papers: `<paper>/<run>`."""
        return f"{self.paper}/{self.run}"

    @cached_property
    def described(self) -> dict[str, Any]:
        """Everything that determines the training, as JSON and YAML have it."""
        parts: dict[str, Any] = {"data": self.data.hashed}
        for name in ("model", "method", "training", "outcome", "masking"):
            if (part := getattr(self, name)) is not None:
                parts[name] = part.identity()
        if self.start is not None:
            parts["start"] = self.start.hashed
        return parts

    @cached_property
    def identity(self) -> str:
        """The SHA-256 of what determines the training, 64 hexadecimal digits."""
        return identity(self.described)

    @property
    def folder(self) -> str:
        """The name of the run's folder: its name and the first eight digits of its identity."""
        return f"{self.run}-{short(self.identity)}"

    def decoding_identity(self, gates: str, window: bool = False) -> str:
        """Return the hash of what determines hypotheses: weights, gates and search.

        The size of a window of saved weights counts where one is decoded (`window`).
        """
        search = self.decoding.identity() if self.decoding else {}
        if not window:
            search.pop("window", None)
        if gates != "hard":
            search.pop("hard_at_least", None)
        return identity({"training": self.identity, "gates": gates, "search": search})


def into_pivot(definition: dict[str, Any], direction: str | None) -> bool:
    """Return whether a data set with a pivot is translated into it.

    `translates` fixes the direction of a single language pair, else `direction` says it.
    """
    if "translates" in definition:
        return definition["translates"][1] == definition["pivot"]
    return direction == "many_to_one"
