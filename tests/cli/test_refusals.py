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
    ("run all static_2_2", "all and runs in one start; name targets, or runs and rows"),
    ("run all", "only a clone has the workflow"),
    (f"score {RUN} --gates hard", "no gates 'hard'"),
    (f"score {RUN} --split vaild", "nearest valid name: 'valid'"),
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
    # What typer finds.
    ("trian", "no verb 'trian'; nearest valid name: 'train'"),
    # What earlier versions had.
    ("cluster --yes", "no verb 'cluster' any more; write the profile yourself: docs/cluster.md"),
    (
        "plan --calibrate",
        "no such option: --calibrate; leave it out: trainings here are measured after 200 updates",
    ),
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
def test_a_mistake_is_refused_in_one_line_before_torch_is_loaded(
    trained, call, monkeypatch, words, says
):
    monkeypatch.chdir(trained)
    monkeypatch.setitem(sys.modules, "torch", None)
    line = call(*shlex.split(words), typed=b"a\n").one_line
    assert line.startswith("fathom: ")
    assert says in line
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


@pytest.mark.parametrize("verb", ["train", "translate", "score"])
def test_a_wrong_key_is_found_also_by_verbs_that_do_not_check_first(project, edit, call, verb):
    edit("papers/sample/runs.yaml", "static_2_2: {like: base}", "static_2_2: {like: base, seed: 1}")
    assert "'seed'; nearest valid name: 'seeds'" in call(verb, RUN).one_line
