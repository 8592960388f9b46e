"""A corpus of real sentences for the scores, and a run on it that has been decoded."""

from dataclasses import replace

import pytest

from fathom.io.files import write_lines
from fathom.runs.paths import Paths
from fathom.runs.spec import Method, Spec
from tests.evaluation.small_run import small_spec, training, write_before, write_decoding

STATIC = Method("static", (), {})
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


def on_messages(run: Spec) -> Spec:
    """Return a run on the messages instead."""
    definition = {"pivot": "eng", "tasks": [[task, task] for task in OTHER]}
    data = replace(run.data, dataset="messages", tasks=tuple(OTHER), definition=definition)
    return replace(run, data=data)


@pytest.fixture
def paths(tmp_path):
    return Paths(tmp_path, "tiny")


@pytest.fixture
def decoded(paths):
    """Return a function that writes what stages before scoring leave, and gives the run."""

    def write(
        direction: str = "many_to_one",
        gates: tuple[str, ...] = ("plain",),
        kind: str = "finished",
        without: tuple[str, ...] = (),
        **settings: object,
    ) -> Spec:
        run = on_messages(small_spec(STATIC, direction, gates[0], **settings))
        ended = training(kind)
        if ended["validation"]:
            ended["validation"]["by_task"] = {"bos": 4.4, "kor": 4.6}
        write_before(run, paths, ended)
        corpus = paths.corpus(run.data)
        for task, lines in OTHER.items():
            write_lines(corpus / task / f"test.{task}", lines)
            write_lines(corpus / task / "test.eng", ENGLISH)
        outcome = "decoded" if kind == "finished" else kind
        for each in gates:
            dropped = without if each == "hard" else ()
            write_decoding(run, corpus, paths.decoding(run, 1, each), outcome, dropped)
        return run

    return write
