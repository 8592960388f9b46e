"""What the command refuses: mistakes of its words, in one line before torch is loaded."""

import re
import shlex
import sys

import pytest
from typer.main import get_group

from fathom.cli.main import main
from fathom.cli.verbs import build
from fathom.io.errors import FathomError
from tests.support.small_project import GATED, RUN

FILE = "training.json"
# A file of text for each language, which need not be there where something else is refused.
ADOPT = "adopt mine --languages fra-eng"
TEXT = "--text my.fr my.en"

# Mistakes, each refused before torch is loaded: words, and what its line says in this order.
REFUSED = [
    ("show static_2_3", "no run 'static_2_3'; nearest valid name: 'static_2_2"),
    ("show 'sample_table1: Statik'", "no row 'Statik'; nearest valid name: 'Static'"),
    (
        "train 'sample_tabel1: Static'",
        "no table 'sample_tabel1'; nearest valid name: 'sample_table1",
    ),
    (
        "show sample_table1",
        "a table, not a run; write 'sample_table1: <row>'; its rows: 'Static', ",
    ),
    ("show sample", "'sample' is a paper; its runs: sample/static_2_2, sample/gated_2_2"),
    ("show sample_figure1", "a figure, not a run; `fathom list runs` has runs"),
    (f"show {RUN} --scale smal", "no scale 'smal'; nearest valid name: 'small'"),
    ("list run", "no kind 'run'; nearest valid name: 'runs'"),
    ("where sampl", "no paper 'sampl'; nearest valid name: 'sample'"),
    ("plan al", "no target 'al'; nearest valid name: 'all'"),
    ("plan --gpu h20", "--gpu: no device 'h20'; choose one of h200"),
    ("fetch djangoo", "nearest valid name: 'django'. All: `fathom list sources`"),
    ("prepare smal", "no data set 'smal'; nearest valid name: 'small'"),
    ("prepare small-00000000", "no data set 'small-00000000'; nearest valid name: 'small"),
    (
        "prepare small --task kor",
        "the tasks of 'small' are prepared together; run `fathom prepare small`",
    ),
    ("prepare smal --count", "no data set 'smal'; nearest valid name: 'small'"),
    ("prepare small --count --task kor", "--count counts all tasks; leave one of the two out"),
    ("subwords smal", "no data 'smal'; nearest valid name: 'small'"),
    ("encode small-00000000", "no data 'small-00000000'; valid names: small-"),
    (f"train {RUN} --device gpu", "no device 'gpu'; write auto, cpu, cuda or cuda:<n>"),
    (f"translate {RUN} --device cuda:x", "no device 'cuda:x'"),
    (f"translate {RUN} --task koor", "no task 'koor'; nearest valid name: 'kor'"),
    (f"translate {RUN} --split tset", "no held-out split 'tset'; nearest valid name: 'test'"),
    (f"translate {RUN} --gates soft", "no gates 'soft'; valid names: plain"),
    (f"translate {GATED} --gates hrad", "no gates 'hrad'; nearest valid name: 'hard'"),
    (f"translate {RUN} --task bos --split test", "leave one of the two out"),
    (f"translate {RUN} --seed 1,2", "--seed: '1,2'"),
    (f"translate {RUN} --seed 99999999999999999999", "--seed: "),
    (f"translate {RUN} --results 're{{x}}sults'", "results re{x}sults: "),
    (f"show {RUN} --scale ''", "--scale: no text is given; write a value, or leave the option out"),
    (f"pack {RUN}", "no verb 'pack' any more; write a run to a file by `tar czf run.tar.gz -C "),
    ("unpack run.tar.gz", "no verb 'unpack' any more; type `tar xzkf run.tar.gz -C results`"),
    ("repair", "no verb 'repair' any more; run the commands that `fathom verify` prints"),
    ("verify --results config", "results would lie between the files of"),
    ("verify --results .", "results would lie between the files of"),
    (f"translate {RUN} --seed 2", f"run `fathom run sample/{RUN} --scale small --seeds 2-2`"),
    (f"translate {RUN} --seed 2 --task bos", f"/2/{FILE}: no such file"),
    (f"translate {GATED}", f"{FILE}: no such file"),
    (f"export {RUN} new --format fairsec", "no format 'fairsec'; nearest valid name: 'fairseq'"),
    (f"export {RUN} new --format fairseq --task boss", "nearest valid name: 'bos'"),
    (f"export {RUN} config --format fairseq", "config: this is not an empty folder"),
    (f"export {RUN} new --format fairseq --seed 2", f"/2/{FILE}: no such file"),
    ("run sample_tabel1", "no target 'sample_tabel1'; nearest valid name: 'sample_table1'"),
    ("run all --set device", "--config: 'device' is not KEY=VALUE; write --config device=cpu"),
    ("run all --set seeds=3 --seeds 2", "--set seeds=3: two values of 'seeds'; leave one out"),
    ("run sample_table1 --config scale=small seeds=2", "write --config before each: --config se"),
    ("run all static_2_2", "all and runs in one start; name targets, or runs and rows"),
    (f"run sample_table1 {RUN}", "sample_table1 and runs in one start"),
    ("run all", "only a clone has the workflow"),
    (f"score {RUN} --gates hard", "no gates 'hard'"),
    (f"score {RUN} --split vaild", "nearest valid name: 'valid'"),
    (f"score {RUN}", "decoding.json: no such file"),
    (f"score {RUN}", f"; run `fathom translate sample/{RUN} --scale small --seed 1`"),
    (f"score {RUN} --metric chrf+p", "no metric 'chrf+p'; nearest valid name: 'chrfpp'"),
    (f"likelihood {RUN} --split train", "no held-out split 'train'"),
    (f"likelihood {RUN} --gates soft", "no gates 'soft'; valid names: plain"),
    (f"likelihood {RUN} --seed 2", f"/2/{FILE}: no such file"),
    (f"best-window {RUN}", "no window of checkpoints; give --size"),
    (f"gates {RUN}", f"sample/{RUN}: its method has no gates"),
    (f"gates {GATED}", f"{FILE}: no such file"),
    ("table sample_tabel1", "no table 'sample_tabel1'; nearest valid name: 'sample_table1'"),
    ("table sample_figure1", "draw it with `fathom figure"),
    ("figure sample_figur1", "no figure 'sample_figur1'; nearest valid name: 'sample_figure1'"),
    ("figure sample_figure1 --curves", "a figure, not a table; draw it with `fathom figure"),
    ("curves sample_table1", "no verb 'curves' any more; draw those of a table's rows with"),
    ("compare --table sample_tabel1", "nearest valid name: 'sample_table1'"),
    ("claims --table sample_tabel1", "no table 'sample_tabel1'; nearest"),
    (f"test {RUN} gated_2_3", "no run 'gated_2_3'; nearest valid name: 'gated_2_2"),
    (f"test {RUN} 'sample_table1: Gatd'", "no row 'Gatd'; nearest valid name: 'Gated'"),
    (f"test {RUN}", f"sample/{RUN}: one run is compared with nothing; name another run"),
    (f"test {RUN} 'sample_table1: Static'", f"sample/{RUN}: the same trainings are named twice; "),
    (f"test {GATED} {RUN}", f"not run; make it with `fathom run sample/{GATED} --scale small`"),
    (f"test {RUN} {GATED}", "small --seed 1 --split test --gates plain --metric bleu`"),
    (f"test {RUN} {GATED} --task boss", "no task 'boss'; nearest valid name: 'bos'"),
    (f"test {RUN} {GATED} --metric belu", "--metric: no metric 'belu'; nearest valid name: 'bleu'"),
    (f"test {RUN} {GATED} --task bos --each-task", "leave one out"),
    (f"test {RUN} {GATED} --split vaild", "nearest valid name: 'valid'"),
    ("page sampel", "no paper 'sampel'; nearest valid name: 'sample'"),
    ("verify static_2_3", "nearest valid name: 'static_2_2"),
    (
        f"verify {GATED}",
        f"no training of this run; train it with `fathom run sample/{GATED} --scale small`",
    ),
    ("verify --results elsewhere", "elsewhere: no such folder"),
    *(
        (f"{verb} --results resluts", "resluts: no such folder; nearest valid name: 'results'")
        for verb in (
            *("compare", "claims", "page", "verify", "status", "clean", "list"),
            f"test {RUN} {GATED}",
            *("table sample_table1", "figure sample_figure1 --partial"),
        )
    ),
    ("diff results elsewhere", "elsewhere: no such folder"),
    ("clean state", "no kind 'state'; nearest valid name: 'states'"),
    ("clean --yes", "no kind is named; name some of"),
    ("new config", "the workflow has a rule, a target or a folder"),
    ("new sample", "the name 'sample' is taken by config/papers/sample"),
    ("new My-Study", "a name has at most 64 small letters"),
    *((f"new {name}", "the workflow has a rule, a target") for name in ("all", "train_run", "lib")),
    *((f"new {name}", "YAML reads this word as another") for name in ("no", "on", "true", "null")),
    ("new mine --like static_2_3", "no run 'static_2_3'; nearest valid name: 'static_2_2'"),
    ("new mine --data smal", "--data: no data set 'smal'; nearest valid name: 'small'"),
    (f"adopt mine {TEXT}", "--languages: not the codes of two languages; write ISO 639-3"),
    (f"adopt mine {TEXT} --languages eng-en", "--languages eng-eng: not the codes of two"),
    (f"{ADOPT} {TEXT} --tsv my.fr", "--text and --tsv are both given"),
    (ADOPT, "no text is given; give --text or --tsv"),
    (
        "adopt mine --text my.fr --languages fra-eng",
        "--text: two files; here is only my.fr; add the second; --tsv has both sides",
    ),
    (f"{ADOPT} --tsv my.tsv", "my.tsv: no such file"),
    (f"{ADOPT} {TEXT} --columns 1,1", "--columns 1,1: not two columns"),
    (f"{ADOPT} {TEXT} --test my.fr my.en", "--valid and --test go together"),
    (
        f"{ADOPT} {TEXT} --valid my.fr my.en --test t.fr --again",
        "--test: two files; here is only t.fr; add the second; --tsv has both sides",
    ),
    (
        f"{ADOPT} {TEXT} --valid my.fr my.en --test my.fr my.en --hold-out 9+9",
        "--hold-out: validation and test are files",
    ),
    ("adopt mine --again", "mine: there is no adopted text; give --text and --languages"),
    (f"adopt small --languages fra-eng {TEXT}", "there is a data set or source 'small'"),
    (f"adopt sample --languages fra-eng {TEXT}", "the name 'sample' is taken"),
    (f"adopt sub/mine --languages fra-eng {TEXT}", "name: 'sub/mine': a name has"),
    (f"adopt {'a' * 61} --languages fra-eng {TEXT}", "has at most 64 small letters"),
    (f"adopt run --languages fra-eng {TEXT}", "the workflow has a rule, a target or a folder"),
    (f"adopt yes --languages fra-eng {TEXT}", "YAML reads this word as another value"),
    (f"adopt config --languages fra-eng {TEXT}", "the workflow has a rule, a target or a folder"),
    # Verbs and options of earlier versions.
    ("summary", "no verb 'summary' any more; `fathom status` prints it"),
    ("statistics small", "no verb 'statistics' any more; run `fathom prepare"),
    (
        "table sample_table1 --json",
        "no such option: --json; read the csv, or `fathom.open().table`",
    ),
    (
        "verify --json",
        "no such option: --json; read what it prints; list, status, plan, compare and",
    ),
    ("contracts rezero", "no verb 'contracts' any more; write a test of three lines (docs/adding"),
    ("schema", "no verb 'schema' any more; the classes of lib/fathom/config/schema, and the page"),
    (
        "sweep uneven",
        "no verb 'sweep' any more; write the runs with `for` into a study (docs/study.md)",
    ),
    ("cluster --yes", "no verb 'cluster' any more; write the profile yourself: docs/cluster.md"),
    (
        "plan --calibrate",
        "no such option: --calibrate; leave it out: trainings here are measured after 200 updates",
    ),
    # What typer finds.
    ("trian", "no verb 'trian'; nearest valid name: 'train'"),
    ("train", "fathom: train: missing argument 'run'; help: A run of `fathom list runs`, or"),
    (f"show {RUN} {GATED}", "fathom: show: got unexpected extra argument"),
    (f"show {RUN} --sclae tiny", "no such option: --sclae; nearest valid name: '--scale'"),
    (f"best-window {RUN} --size one", "invalid value for '--size': it should be a valid integer"),
    (f"best-window {RUN} --size 0", "it should be greater than or equal to 1; help: Checkpoints"),
    (f"export {RUN} new", "missing option '--format'; help: fairseq, ctranslate2 or transformers"),
    ("diff a b --tolerance -1", "'--tolerance': it should be greater than or equal to 0; help: "),
    ("diff a b --tolerance nan", "'--tolerance': it should be greater than or equal to 0"),
]


@pytest.mark.parametrize(("words", "says"), REFUSED)
def test_a_mistake_is_refused_in_one_line_before_torch_is_loaded_and_nothing_is_written(
    trained, call, monkeypatch, words, says
):
    monkeypatch.chdir(trained)
    monkeypatch.setitem(sys.modules, "torch", None)
    before = {*trained.rglob("*")}
    line = call(*shlex.split(words), typed=b"a\n").one_line
    assert line.startswith("fathom: ")
    assert says in line
    assert {*trained.rglob("*")} == before
    # A remedy that is a command is one.
    for command in re.findall("`(fathom [^`]+)`", line):
        _, verb, *rest = shlex.split(command)
        if rest != ["--help"]:
            get_group(build([verb])).commands[verb].make_context(verb, rest)


def test_debug_shows_where_a_mistake_was_found(project, call, monkeypatch, interruptible):
    call("show", "static_2_3")
    monkeypatch.setenv("FATHOM_DEBUG", "1")
    with pytest.raises(FathomError, match="no run 'static_2_3'"):
        main()


SEED = "static_2_2: {like: base, seed: 1}", "'seed'; nearest valid name: 'seeds'"
MIXED = "static_2_2: {like: base, method: dlcl}", f"{RUN}: not a plain Transformer: the method dlcl"


@pytest.mark.parametrize(
    ("words", "run", "says"),
    [
        (f"train {RUN}", *SEED),
        (f"translate {RUN}", *SEED),
        (f"score {RUN}", *SEED),
        (f"export {RUN} new --format fairseq", *MIXED),
    ],
)
def test_a_run_that_a_verb_cannot_take_is_refused_by_a_verb_that_does_not_check_all_of_config(
    project, edit, call, monkeypatch, words, run, says
):
    edit("papers/sample/runs.yaml", "static_2_2: {like: base}", run)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert says in call(*words.split()).one_line
