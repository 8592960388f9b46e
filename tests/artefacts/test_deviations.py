"""The page of deviations, and which deviations apply to a run."""

from types import SimpleNamespace

from fathom.artefacts.deviations import applying, page
from fathom.config.deviations import Deviation


def test_every_entry_is_on_the_page_with_all_that_it_has(own_project):
    text = page(own_project.papers)
    for paper in own_project.papers.values():
        of_paper = text.split(f"\n## {paper.name}\n")[1].split("\n## ")[0]
        for entry in paper.deviations:
            part = of_paper.split(f"### {entry.name}: {entry.title}\n\n")[1].split("\n\n")[0]
            assert f"- **Paper:** {entry.paper}" in part
            assert f"- **Here:** {entry.ours}" in part
            assert f"- **Because:** {entry.why}" in part
            assert ("**Released code:**" in part) == bool(entry.released)
            assert ("**Settings:**" in part) == bool(entry.settings)
            assert all(f"`{name}`" in part for name in (*entry.applies, *entry.settings))


def test_a_paper_without_deviations_is_left_out(own_project):
    about = own_project.papers["lamgd"].about
    paper = SimpleNamespace(name="lamgd", about=about, deviations=())
    assert "lamgd" not in page({"lamgd": paper}).partition("yaml.")[2]


def entry(name, *applies):
    """Return an entry that applies to some names."""
    texts = {"title": name, "paper": "Silent.", "ours": "One.", "why": "Chosen."}
    return Deviation(name=name, applies=applies, **texts)


ENTRIES = (entry("general", "paper"), entry("gates", "gated"), entry("one_table", "table1"))


def test_entries_apply_to_everything_or_to_a_method_family_or_table():
    paper = SimpleNamespace(deviations=ENTRIES)
    assert applying(paper, ()) == ENTRIES[:1]
    assert applying(paper, {"gated"}) == ENTRIES[:2]
    assert applying(paper, {"table1", "static"}) == (ENTRIES[0], ENTRIES[2])


def test_no_title_author_or_entry_is_a_tag_of_html(own_project):
    """A script of an outside paper's title reached the page."""
    script = "<script>alert(1)</script>"
    changes = {"title": script, "authors": (script,)}
    about = own_project.papers["lamgd"].about.model_copy(update=changes)
    odd = entry("odd", "paper").model_copy(update={"title": script})
    paper = SimpleNamespace(name="lamgd", about=about, deviations=(odd,))
    text = page({"lamgd": paper})
    assert text.count("\\<script>") == 3
    assert "<script>" not in text.replace("\\<script>", "")
