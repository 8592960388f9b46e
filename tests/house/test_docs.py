"""What docs/, the README, generated pages and the site say: numbers, links, verbs, settings."""

import csv
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from PIL import Image
from typer.main import get_group

from docs import evidence, first_result, picture, readme_table, site
from docs.settings import page as settings_page
from fathom.artefacts.check import beyond_config, findings
from fathom.artefacts.rendering import write_csv
from fathom.cli.verbs import VERBS, build
from fathom.config.load import load
from fathom.config.yaml_values import from_plain
from fathom.io.files import sha256
from fathom.results.tree import SEEDS, rows
from tests.cli.conftest import invoke
from tests.house.tree import ROOT
from tests.support.browser import measured, needs_chromium

LINK = re.compile(r"\]\((?!https?:)([^)#]+)[^)]*\)")
WRITTEN = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
README = (ROOT / "README.md").read_text(encoding="utf-8")
# Options of Snakemake and fairseq that stand beside verbs.
FOREIGN = {"--config", "--logger", "--unlock", "--profile", "--decoder-langtok"}


def test_pages_have_the_numbers_of_config_and_of_the_kept_results(own_project):
    for (page, name), part in readme_table.parts(own_project).items():
        marked = f"<!-- begin: {name} -->\n{part}<!-- end: {name} -->"
        assert marked in page.read_text(encoding="utf-8"), f"{page} is stale; run make freeze"


def test_an_outcome_in_place_of_a_score_is_shown_among_gains_and_trainings(tmp_path, own_project):
    """At the papers' depths a row may diverge, here too."""
    shutil.copytree(evidence.KEPT / evidence.SCALE, tmp_path / "long")
    table = tmp_path / "long" / evidence.PAPER / f"{evidence.TABLE}.csv"
    lines = rows(table)
    for line in lines:
        if (line["row"], line["column"]) == ("LL-D, 12/24", "avg"):
            line |= {"value": "", "words": "diverged"}
    write_csv(table, list(lines[0]), lines)
    assert "0 of 8 rows beat 12/12" in readme_table.gains(own_project, tmp_path / "long")
    shutil.copytree(evidence.KEPT / "deep", tmp_path / "deep")
    trainings = rows(tmp_path / "deep" / evidence.RUNS)
    for line in trainings:
        if line["run"].endswith("transformer_plain_12") and line["seed"] == "2":
            line["outcome"] = "diverged"
    write_csv(tmp_path / "deep" / evidence.RUNS, list(trainings[0]), trainings)
    trained = readme_table.trained(own_project, tmp_path / "deep")
    assert (
        "38 of 39 trainings finished. Of 6 runs that failed in the paper, 5 train here" in trained
    )


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"value": "", "words": "failed to train"}, "failed to train → 7.08 ±0.34 | | |"),
        ({"value": "4.45", "stderr": ""}, "4.45 → 7.08 ±0.34 | +2.71 | one seed |"),
    ],
)
def test_the_first_result_has_a_line_where_a_training_failed_or_has_one_seed(
    tmp_path, own_project, changes, line
):
    table = tmp_path / first_result.PAPER / f"{first_result.TABLE}.csv"
    shutil.copytree(evidence.KEPT / first_result.SCALE / first_result.PAPER, table.parent)
    cells = rows(table)
    next(cell for cell in cells if (cell["row"], cell["column"]) == ("baseline", "6")).update(
        changes
    )
    write_csv(table, list(cells[0]), cells)
    seeds = table.with_name(f"{first_result.TABLE}{SEEDS}")
    numbers = rows(seeds)
    one_seed = [
        each
        for each in numbers
        if (each["column"], each["seed"]) in {("6", "1"), ("20", "1"), ("20", "2"), ("20", "3")}
    ]
    write_csv(seeds, list(numbers[0]), one_seed)
    found = list(first_result.gains(own_project, tmp_path))
    printed = " ".join(first_result.as_table(found).split())
    assert f"27.26 → 27.52 | {line}" in printed
    assert [gain.certain for gain in found] == [False, True]
    assert "is certainly better at 20 layers alone" in first_result.sentence(own_project, found)


@pytest.mark.slow
def test_the_readme_says_what_is_judged_without_training(tmp_path):
    """Text may follow, which only some folders of results have."""
    counts = readme_table.judged(load(ROOT, check=False), tmp_path).removesuffix(".\n")
    assert f"<!-- begin: judged -->\n{counts}" in README, "README.md is stale; run make freeze"


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_links_lead_to_files_and_to_places_of_the_site(page):
    text = page.read_text(encoding="utf-8")
    links = LINK.findall(text)
    assert [link for link in links if not (page.parent / link).exists()] == []
    name = page.relative_to(ROOT).as_posix()
    if name in site.PAGES or page.parent == site.DOCS:
        here = site.place(page)
        for match in site.LINK.finditer(site.linked(text, page.parent, here)):
            there = (Path("/", here).parent / match[2]).resolve().relative_to("/").as_posix()
            assert there in site.made() or (site.DOCS / there).is_file(), match[0]


def menu(entries):
    """Yield the pages of the site's menu."""
    for entry in entries:
        for there in entry.values():
            yield from menu(there) if isinstance(there, list) else [there]


def test_the_sites_menu_has_every_page_of_docs_once_and_nothing_is_fetched():
    # Tags that only MkDocs reads are not needed here.
    text = re.sub(r"!!\S+", "", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    settings = yaml.safe_load(text)
    pages = [path.name for path in site.DOCS.glob("*.md")]
    pages += [there for there in site.made() if "/" not in there]
    assert sorted(menu(settings["nav"])) == sorted([*pages, f"{site.API}/"])
    assert settings["theme"]["font"] is False
    assert "offline" in [*map(str, settings["plugins"])]
    assert "http" not in str(settings["extra_css"]) + str(settings.get("extra_javascript", ""))


@pytest.mark.parametrize(
    ("text", "folder", "page", "linked"),
    [
        ("[a](output.md#x)", "docs", "api/a.md", "[a](../output.md#x)"),
        ("[a](../lib/fathom/io)", "docs", "a.md", "[a](source/lib/fathom/io.md)"),
        (
            '<source srcset="docs/images/page_dark.png"><img src="docs/images/page_light.png">',
            "",
            "index.md",
            '<source srcset="images/page_dark.png"><img src="images/page_light.png">',
        ),
    ],
)
def test_links_of_a_page_lead_to_places_of_the_site(text, folder, page, linked):
    assert site.linked(text, ROOT / folder, page) == linked


def test_the_site_has_files_outside_of_docs_modules_and_what_papers_leave_open():
    path = site.LIBRARY / "io" / "files.py"
    assert path.read_text(encoding="utf-8") in site.described(path)
    assert "::: fathom.io.files" in site.made()[f"{site.API}/io.md"]
    path = ROOT / "config" / "papers" / "lamgd" / "deviations.yaml"
    assert "### rate_bound: " in site.made()[site.place(path)]


def test_the_page_of_commands_has_each_verb_and_shows_what_is_in_angle_brackets():
    verbs = re.findall(r"^## `fathom (\S+)`$", site.made()["commands.md"], re.MULTILINE)
    assert verbs == [verb for named in VERBS.values() for verb in named]
    assert "'&lt;paper>_&lt;table>: &lt;row>'" in site.made()["commands.md"]


def unknown_options(page: Path) -> list[str]:
    """Return the options in a page that no verb has which its line or paragraph names."""
    options = {
        verb: {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
        for verb, command in get_group(build()).commands.items()
    }
    found = []
    for paragraph in re.split(r"\n\s*\n", page.read_text(encoding="utf-8")):
        typed = re.findall(r"fathom ([a-z-]+)( [^`#&|;\n]*)?", paragraph)
        known = {verb: options[verb] for verb, _ in typed if verb in options}
        for verb, words in typed:
            for option in re.findall(r" (--[a-z-]+)", words.partition(" -- ")[0]):
                found += [f"{verb} {option}"] * (option not in known.get(verb, {option}))
        alone = {*re.findall(r"`(--[a-z-]+)", paragraph)} - FOREIGN
        found += alone.difference(*known.values()) if known else []
    return found


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_options_in_pages_are_those_of_the_verbs_that_are_named_beside_them(page):
    assert page.name == "CHANGELOG.md" or unknown_options(page) == []


def test_an_option_that_is_gone_is_found(tmp_path):
    """`--watch` of `fathom status` was described when it was gone."""
    page = tmp_path / "page.md"
    page.write_text("`fathom status` reads; `--watch` repeats.\n\n    fathom plan all --sacle x\n")
    assert unknown_options(page) == ["--watch", "plan --sacle"]


def test_the_page_of_results_has_what_follows_from_the_kept_files():
    text = evidence.PAGE.read_text(encoding="utf-8")
    for name, part in evidence.parts().items():
        marked = f"<!-- begin: {name} -->\n{part}<!-- end: {name} -->"
        assert marked in text, "docs/results.md is stale; run make freeze"


STUDY = re.compile(r"`(\w+/(?:study\.yaml|metrics/\w+\.py))`[^\n]*\n+```\w+\n(.*?)```", re.DOTALL)


def test_a_reader_can_start_the_studies_of_the_page_of_results(tmp_path):
    written = {tmp_path / name: text for name, text in STUDY.findall(evidence.PAGE.read_text())}
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    studies = sorted({str(path.parent) for path in written if path.name == "study.yaml"})
    assert len(studies) > 1
    project = load(ROOT, beyond_config, [from_plain({"papers": studies}, "--config")])
    assert findings(project) == []


def test_what_trains_has_a_line_for_each_row_and_rate_and_names_what_is_missing(tmp_path):
    """A part of the tables is enough, and of their runs."""
    folder, name = tmp_path / "deep", "latent_depth/m2o_diverse_24_24"
    run = {"run": name, "peak_rate": "0.005", "layers": "24/24", "width": 64, "precision": "fp32"}
    ends = [("finished", 600, 5.5), ("failed_to_train", 600, 6.02), ("diverged", 122, "")]
    trained = [
        {**run, "seed": seed, "outcome": outcome, "updates": updates, "valid_nll": nll}
        | {"unigram_nll": 6.0}
        for seed, (outcome, updates, nll) in enumerate(ends, start=1)
    ]
    write_csv(folder / evidence.RUNS, list(trained[0]), trained)
    lines = [
        {"row": "size", "column": "1", "run": name, "words": "", "measurement": "parameters"},
        {"row": "24/24", "column": "1", "run": name, "words": "", "measurement": "nll.valid.plain"},
        {"row": "24/24", "column": "2", "run": f"{name}_x2", "words": "not run", "measurement": ""},
    ]
    write_csv(folder / "latent_depth" / "rates.csv", [*lines[0]], lines)
    parts = evidence.of_ladder(folder)
    assert parts["rows of deep"].splitlines()[2:] == [
        "| latent_depth | rates: 24/24, 1 | 0.005 | 24/24 | 64 | fp32 | 122 to 600 | "
        "0.50 | failed to train (-0.02) | diverged |"
    ]
    missing = parts["missing of deep"]
    for words in (
        "Not drawn of lamgd: all tables and figures.",
        "Not drawn of latent_depth: table1, table2,",
        "1 of 2 runs of latent_depth/rates lack trainings: `m2o_diverse_24_24_x2`.",
        "Drawn, but too large to keep: figure4 of transparent_attention.",
    ):
        assert words in missing
    assert "rates," not in missing
    nothing = evidence.of_ladder(tmp_path / "other")
    assert nothing == {"trainings of other": "No results of `other` are kept yet.\n"}


def test_the_picture_of_a_terminal_is_of_its_page():
    with Image.open(picture.IMAGES / "terminal.png") as taken:
        assert taken.info[picture.TAKEN_OF] == sha256(picture.TERMINAL), (
            "run python -m docs.picture terminal"
        )


def test_the_kept_results_are_complete_and_can_be_compared():
    scale = evidence.KEPT / evidence.SCALE
    with open(scale / evidence.PAPER / f"{evidence.TABLE}.csv", newline="") as stream:
        rows = {(line["run"], line["seeds"]) for line in csv.DictReader(stream) if line["seeds"]}
    with open(scale / "runs.csv", newline="") as stream:
        trained = [line["run"] for line in csv.DictReader(stream)]
    assert rows <= {(run, str(trained.count(run))) for run in trained}
    target = f"{evidence.PAPER}_{evidence.TABLE}"
    words = ["diff", evidence.KEPT, evidence.KEPT, "--table", target, "--scale", scale.name]
    invoke(ROOT, [*map(str, words)])


# The page of all settings


@pytest.fixture(scope="module")
def lines(own_project):
    return settings_page(own_project).split("\n")


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("model.width", "(required; scaled by width): Width of embeddings and hidden states."),
        ("training.precision", "(default `fp32`, half precision makes divergences of its own; "),
        ("model.residuals", "(default `[encoder, decoder]`, Vaswani et al. 2017; any of "),
        ("training.shares", "; one of `equal`, `proportional`, a mapping)"),
    ],
)
def test_a_setting_has_its_meaning_its_default_its_unit_and_all_values_that_are_allowed(
    lines, path, part
):
    assert part in next(line for line in lines if line.startswith(f"- `{path}` "))


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("model.ffn", "`1024`: lamgd (§3.1.2); latent_depth (App. C.2)"),
        ("method.draw", "`update`: latent_depth (draw silent)"),
        ("decoding.beam", "`8`: transparent_attention (silent: the library's defaults)"),
    ],
)
def test_below_a_setting_is_what_papers_give_with_its_place(lines, path, given):
    start = next(at for at, line in enumerate(lines) if line.startswith(f"- `{path}` "))
    assert f"    - {given}" in lines[start + 1 : start + 9]


def test_every_setting_of_every_card_is_there(own_project, lines):
    for name, card in own_project.methods.items():
        start = lines.index(f"## method {name}")
        for key in card.about.settings:
            assert any(line.startswith(f"- `method.{key}` (default ") for line in lines[start:])


# The site, built and opened in a browser from the disk

BUILDER = ROOT / ".venv-docs" / "bin" / "python"
WIDTHS = (380, 1400)
# What is wider than the window without bars of its own, and pictures that are not there.
WRONG = """
    const root = page.documentElement;
    const lost = [...page.images].filter(image => !image.complete || image.naturalWidth === 0);
    const wide = root.scrollWidth > root.clientWidth ? [root.scrollWidth] : [];
    return wide.concat(lost.map(image => image.src));
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    if not BUILDER.exists():
        pytest.skip("make docs installs what builds the site")
    folder = tmp_path_factory.mktemp("site")
    words = [str(BUILDER), "-m", "mkdocs", "--quiet", "build", "--strict", "-d", str(folder)]
    more = {"PYTHONPATH": str(ROOT / "lib"), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(words, cwd=ROOT, env=os.environ | more, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
@needs_chromium
def test_no_page_is_wider_than_a_phone_or_a_window_and_each_picture_is_there(built, tmp_path):
    pages = sorted(built.rglob("*.html"))
    found = iter(measured(tmp_path, pages, WIDTHS, WRONG)[0])
    wrong = {(path.name, width): next(found) for path in pages for width in WIDTHS}
    assert {key: value for key, value in wrong.items() if value} == {}
