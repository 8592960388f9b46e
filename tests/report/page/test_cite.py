"""How the paper and the reproduction are cited."""

from types import SimpleNamespace

from fathom.artefacts.page.cite import bibtex, software
from tests.support.own_project import own_project


def test_the_entry_has_all_given_fields():
    for paper in own_project().papers.values():
        entry = bibtex(paper.about)
        assert entry.startswith(f"@{paper.about.citation.type}{{{paper.about.citation.key},")
        assert entry.endswith("\n}")
        assert f"{{{{{paper.about.title}}}}}" in entry
        assert " and ".join(paper.about.authors) in entry
        assert entry.count("{") == entry.count("}")


def test_commits_of_the_trainings_are_named_once():
    files = [SimpleNamespace(file=SimpleNamespace(commit=name)) for name in ("a" * 40, "a" * 40)]
    cited = software("tiny", [SimpleNamespace(ended=files)])
    assert cited.endswith(f"scale tiny, trained by commit {'a' * 12}")
    assert "commit" not in software("tiny", [])
