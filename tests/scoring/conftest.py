"""A corpus of real sentences for the scores, and a run on it that has been decoded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from fathom.config.paths import Paths
from fathom.config.spec import Spec
from fathom.data.sides import sides
from fathom.io.files import write_lines
from fathom.io.records import hashes
from fathom.results import decoding_record, training_record
from fathom.results.recipe import RECIPE
from tests.support.run_files import write_training
from tests.support.small_corpus import record_corpus
from tests.support.specs import small_spec

ENGLISH = [
    "The page could not be found on this server.",
    "Enter a valid e-mail address, for example anna@example.org.",
    "Please correct the errors below and try it again.",
    "“%(name)s” was changed successfully; you may edit it again below.",
    "This field is required.",
    "Are you sure that you want to delete the selected objects?",
]
OTHER = {
    "bos": [
        "Stranica nije pronađena na ovom serveru.",
        "Unesite ispravnu adresu e-pošte, na primjer anna@example.org.",
        "Molimo ispravite greške ispod i pokušajte ponovo.",
        "„%(name)s“ je uspješno izmijenjeno; ispod ga možete ponovo urediti.",
        "Ovo polje je obavezno.",
        "Jeste li sigurni da želite obrisati odabrane objekte?",
    ],
    "kor": [
        "이 서버에서 페이지를 찾을 수 없습니다.",
        "올바른 이메일 주소를 입력하세요. 예: anna@example.org.",
        "아래의 오류를 수정한 후에 다시 시도해 주세요.",
        "“%(name)s”가 성공적으로 변경되었습니다. 아래에서 다시 수정할 수 있습니다.",
        "이 항목은 필수입니다.",
        "선택한 객체들을 정말로 삭제하시겠습니까?",
    ],
}
DEFINITION = {"pivot": "eng", "tasks": [[task, task] for task in OTHER]}


def write_decoding(
    spec: Spec,
    paths: Paths,
    split: str,
    gates: str,
    no_layer: tuple[str, ...],
    hypotheses: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write hypotheses: those given, or the references with every fourth word replaced."""
    ended = training_record.read(paths.training(spec, 1)).outcome
    folder, corpus = paths.decoding(spec, 1, split, gates), paths.corpus(spec.data)
    tasks, target = {}, sides(spec.data)[1]
    for task in spec.data.tasks if ended.finished else ():
        if task not in no_layer:
            references = target.sentences(corpus, task, split)
            path = folder / f"{task}.txt"
            spoilt = [_spoilt(line) for line in references]
            write_lines(path, hypotheses[task] if hypotheses else spoilt)
            tasks[task] = len(references)
    content = {
        "identity": spec.decoding_identity(gates),
        "split": split,
        "gates": gates,
        "recipe": RECIPE["decoding"],
        "settings": spec.decoding.model_dump(),
        "weights": [ended.update] if ended.finished else [],
        "outcome": ended.kind,
        "reason": "" if ended.finished else ended.reason,
        "tasks": tasks,
        "files": hashes(folder, *(f"{task}.txt" for task in tasks)),
        "no_layer": list(no_layer),
        "versions": {"torch": "2.13.0"},
    }
    decoding_record.write(folder, content)


def _spoilt(line: str) -> str:
    words = line.split(" ")
    return " ".join("wrong" if place % 4 == 2 else word for place, word in enumerate(words))


@pytest.fixture
def paths(tmp_path) -> Paths:
    return Paths(tmp_path, "tiny")


@pytest.fixture
def decoded(paths) -> Callable[..., Spec]:
    """Return a function that writes what stages before scoring leave, and gives the run."""

    def write(
        direction: str | None = "many_to_one",
        gates: tuple[str, ...] = ("plain",),
        kind: str = "finished",
        no_layer: tuple[str, ...] = (),
        splits: tuple[str, ...] = ("test",),
        samples: int = 200,
        tokenizers: tuple[str, ...] = (),
        parts: Mapping[str, Sequence[int]] | None = None,
    ) -> Spec:
        scoring = {"bootstrap_samples": samples, "tokenizers": [*tokenizers]}
        changes = {"data": {"direction": direction}, "scoring": scoring}
        definition = DEFINITION | {"split": {"parts": {part: [] for part in parts or ()}}}
        spec = small_spec(changes, tasks=tuple(OTHER), definition=definition)
        spec = replace(spec, gates=gates)
        write_training(spec, paths, kind)
        corpus = paths.corpus(spec.data)
        for split in ("train", "valid", "test"):
            for task, lines in OTHER.items():
                write_lines(corpus / task / f"{split}.{task}", lines)
                write_lines(corpus / task / f"{split}.eng", ENGLISH)
        for part, numbers in (parts or {}).items():
            for task in OTHER:
                write_lines(corpus / task / f"test.{part}.lines", map(str, numbers))
        record_corpus(corpus)
        for split in splits:
            for kind_ in gates:
                write_decoding(spec, paths, split, kind_, no_layer if kind_ == "hard" else ())
        return spec

    return write
