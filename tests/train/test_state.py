"""States and weights on disk, and a run that starts from another's weights."""

from dataclasses import replace

import pytest
import torch

from fathom.config.spec import StartSpec
from fathom.data.encode import encode
from fathom.data.subwords import train as train_subwords
from fathom.io import metrics
from fathom.io.files import read_lines, write_lines
from fathom.io.records import read_record, write_record
from fathom.io.seals import sealed
from fathom.nn.weights import read_checkpoint, read_weights, saved_weights
from fathom.train import state as checkpoints
from fathom.train.state import (
    BEFORE,
    NEWEST,
    delete_weights_after,
    load,
    save,
    save_weights,
    set_aside_after,
)
from tests.support.processes import kill, killed
from tests.support.refused import refused, says
from tests.support.run_files import training
from tests.support.small_corpus import DEFINITION, record_corpus, silent, small_data, write_corpus
from tests.support.small_networks import method
from tests.support.small_runs import specification, switched, train_run
from tests.support.states import require_equal


def test_the_newest_and_the_one_before_it_are_kept(tmp_path):
    for update in (1, 2, 3):
        save(tmp_path, {"update": update, "model": {"a": torch.ones(2)}})
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([NEWEST, BEFORE])
    assert load(tmp_path, print)["update"] == 3


@pytest.mark.parametrize("damage", ["truncate", "empty", "flip", "weight"])
def test_a_damaged_newest_is_set_aside_and_the_one_before_it_taken(tmp_path, damage):
    for update in (1, 2, 3):
        save(tmp_path, {"update": update, "model": {"a": torch.arange(100)}})
    newest = tmp_path / NEWEST
    content = newest.read_bytes()
    newest.write_bytes(
        {
            "truncate": content[:200],
            "empty": b"",
            "flip": b"x" * 50 + content[50:],
            "weight": content.replace(b"\x07\0\0\0", b"\x17\0\0\0"),
        }[damage]
    )
    damaged = newest.read_bytes()
    assert damaged != content
    said = []
    assert load(tmp_path, said.append)["update"] == 2
    assert "last.damaged" in said[0]
    assert not newest.exists()
    assert (tmp_path / "last.damaged").read_bytes() == damaged
    assert "\n" not in said[0]


def test_a_whole_state_of_another_run_or_seed_is_set_aside(tmp_path):
    """A training went on from the weights of another seed that were copied into its folder."""
    for update, seed in ((1, 1), (2, 2)):
        save(tmp_path, {"update": update, "of": ["a", seed]})
    said = []
    assert load(tmp_path, said.append, of=["a", 1])["update"] == 1
    says("of another run or seed", where="last.pt", remedy="last.damaged").check(said)


def test_another_process_of_the_run_may_have_set_the_damaged_file_aside(tmp_path, monkeypatch):
    for update in (1, 2):
        save(tmp_path, {"update": update})

    def read_late(path):
        if path.name == NEWEST:
            path.rename(path.with_suffix(".damaged"))
        return read_checkpoint(path)

    monkeypatch.setattr(checkpoints, "read_checkpoint", read_late)
    assert load(tmp_path, lambda line: None)["update"] == 1


def test_a_checkpoint_with_code_in_it_is_refused(tmp_path):
    class Evil:
        def __reduce__(self):
            return print, ("ran",)

    with sealed(tmp_path / NEWEST) as stream:
        torch.save({"model": Evil()}, stream)
    said = []
    assert load(tmp_path, said.append) is None
    says("it holds code", where="last.pt").check(said)


def test_what_comes_after_an_update_is_renamed_and_unreadable_states_stay(tmp_path):
    """Whole weights were deleted."""
    for update in (3, 6):
        save(tmp_path, {"update": update})
        save_weights(tmp_path, update, weights(update), 2)
    set_aside_after(tmp_path, 6)
    names = {BEFORE, NEWEST, "update_3.pt", "update_6.pt"}
    assert {path.name for path in tmp_path.iterdir()} == names
    set_aside_after(tmp_path, 5)
    names = {BEFORE, "last.replaced", "update_3.pt", "update_6.replaced"}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert read_checkpoint(tmp_path / "last.replaced")["update"] == 6
    (tmp_path / BEFORE).write_bytes(b"")
    set_aside_after(tmp_path, 0)
    names = {BEFORE, "last.replaced", "update_3.replaced", "update_6.replaced"}
    assert {path.name for path in tmp_path.iterdir()} == names


def weights(update):
    return {"a": torch.full((3,), float(update)), "count": torch.tensor(update)}


def test_the_last_weights_are_kept_and_the_oldest_deleted(tmp_path):
    for update in (8, 9, 10, 11):
        save_weights(tmp_path, update, weights(update), 2)
        assert list(saved_weights(tmp_path)) == [
            each for each in (8, 9, 10, 11) if update - 2 < each <= update
        ]
    found = read_checkpoint(saved_weights(tmp_path)[10])
    assert found["update"] == 10
    assert torch.equal(found["model"]["a"], torch.full((3,), 10.0))
    # Nothing but the weights: an optimiser's state is twice as large.
    assert found.keys() == {"update", "model"}


def test_nothing_is_kept_where_nothing_is_asked_for(tmp_path):
    save_weights(tmp_path, 5, weights(5), 0)
    assert list(tmp_path.iterdir()) == []


def test_weights_kept_again_after_a_kill_take_the_place_of_the_first(tmp_path):
    for update in (5, 10, 15):
        save_weights(tmp_path, update, weights(update), 2)
    save_weights(tmp_path, 15, weights(99), 2)
    assert list(saved_weights(tmp_path)) == [10, 15]
    assert read_checkpoint(saved_weights(tmp_path)[15])["model"]["count"] == 99


def test_a_kill_while_weights_are_written_leaves_none_of_that_update(tmp_path, monkeypatch):
    save_weights(tmp_path, 5, weights(5), 2)

    def interrupted(_, stream):
        stream.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(torch, "save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_weights(tmp_path, 10, weights(10), 2)
    assert [path.name for path in tmp_path.iterdir()] == ["update_5.pt"]


def test_weights_after_the_update_to_which_a_run_goes_back_are_forgotten(tmp_path):
    for update in (5, 10, 15):
        save_weights(tmp_path, update, weights(update), 3)
    delete_weights_after(tmp_path, 10)
    assert list(saved_weights(tmp_path)) == [5, 10]
    delete_weights_after(tmp_path, 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("training", "saved"),
    [
        ({"updates": 7, "keep_weights": 9, "save_every": 2}, [2, 4, 6, 7]),
        ({"updates": 11, "keep_weights": 2}, [9, 11]),
    ],
)
def test_weights_are_saved_when_they_are_due_and_at_the_end(tensors, tmp_path, training, saved):
    train_run(specification(changes={"training": training}), tensors, tmp_path)
    found = saved_weights(tmp_path / "checkpoints")
    assert list(found) == saved
    last, newest = (
        read_checkpoint(path) for path in (found[saved[-1]], found[saved[-1]].with_name(NEWEST))
    )
    assert newest["update"] == saved[-1]
    require_equal(last["model"], newest["model"])


def test_validations_and_saves_may_count_epochs(tensors, tmp_path):
    lengths = {"updates": "2 epochs", "validate_every": "2 epochs", "save_every": "1 epoch"}
    spec = specification(changes={"training": {"keep_weights": 9, **lengths}})
    train_run(spec, tensors, tmp_path, switched(log_every=1))
    rows = metrics.read(tmp_path / "metrics.tsv")
    first, last = saved_weights(tmp_path / "checkpoints")
    assert next(row["update"] for row in rows if row["epoch"] >= 1) == first
    assert [row["update"] for row in rows if row["valid_nll"] is not None] == [last]


def test_a_kill_in_the_middle_of_a_write_loses_nothing_and_leaves_nothing(tmp_path):
    """Half of a checkpoint is on disk, under a name that nothing reads."""
    for update in (1, 2):
        save(tmp_path, {"update": update, "model": {"a": torch.ones(2)}})

    def half_written(content, stream):
        stream.write(b"P" * 5000)
        stream.flush()
        kill()

    def child():
        torch.save = half_written
        save(tmp_path, {"update": 3, "model": {"a": torch.ones(2)}})

    killed(child)
    [half] = tmp_path.glob(".*.part")
    assert half.stat().st_size > 4000
    assert load(tmp_path, print)["update"] == 2
    save(tmp_path, {"update": 3, "model": {"a": torch.ones(2)}})
    assert load(tmp_path, print)["update"] == 3
    assert not list(tmp_path.glob(".*.part"))


# A few updates teach little; the base shall count as finished all the same.
LENIENT = {"outcome": {"failed_margin": -20.0}}
BOTH = ("encoder", "decoder")


BASE = specification(changes=LENIENT | {"training": {"keep_weights": 2}})


def tuned(average_of=1, **changes):
    """Return a run of adapters over the frozen weights of BASE."""
    training = {"training": {"updates": 5} | changes}
    spec = specification("adapters", BOTH, LENIENT | training, bottleneck=8)
    return replace(spec, start=StartSpec(BASE.paper, BASE.run, BASE.identity, average_of, True))


@pytest.fixture(scope="module")
def trained(tensors, tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    train_run(BASE, tensors, folder)
    return folder


HALVES = ("kor1", "kor2")


@pytest.fixture(scope="module")
def halved(tmp_path_factory):
    """The data of a set whose largest task is in two halves, with the small set's pieces."""
    folder = tmp_path_factory.mktemp("halved")
    corpus, whole = folder / "corpus", write_corpus(folder / "whole")
    train_subwords(small_data(), whole, folder / "subwords", silent)
    for text in whole.glob("*/*.*"):
        lines, task = read_lines(text), text.parent.name
        parts = {task: lines}
        if task == "kor":
            parts = {half: lines[place::2] for place, half in enumerate(HALVES)}
        for name, part in parts.items():
            write_lines(corpus / name / text.name, part)
    record_corpus(corpus)
    tasks = [*DEFINITION["tasks"][:2], *([half, "hangul"] for half in HALVES)]
    data = small_data({"tasks": tasks, "pivot": "eng"}, pieces=DEFINITION)
    encode(data, corpus, folder / "subwords", folder / "tensors", silent)
    return data, folder / "tensors"


def weights_of(folder):
    return read_weights(folder / "checkpoints" / "last.pt")


def test_adapters_of_more_tasks_start_from_a_base_that_stays_to_the_bit(
    tensors, trained, halved, tmp_path
):
    """Table 4 of lamgd: seven domains, adapters over the Transformer of six."""
    data, text = halved
    assert data.subwords_identity == BASE.data.subwords_identity
    for side in ("source", "target"):
        name = f"dictionary.{side}.txt"
        assert (text / name).read_bytes() == (tensors / name).read_bytes()
    spec = replace(tuned(tasks_per_update=1, updates=8), data=data)
    record = train_run(spec, text, tmp_path, start=trained)
    before, after = weights_of(trained), weights_of(tmp_path)
    assert all(torch.equal(after[name], value) for name, value in before.items())
    added = {name: value for name, value in after.items() if name not in before}
    assert {name.split(".")[4] for name in added} == {"0", "1", "2", "3"}
    assert any(value.any() for name, value in added.items() if "up" in name)
    assert record["parameters"]["trainable"] == sum(value.numel() for value in added.values())
    assert record["outcome"]["kind"] == "finished"
    assert set(record["validation"]["by_task"]) == {"bos", "bel", *HALVES}
    own = read_record(trained / "training.json")["validation"]["by_task"]
    assert record["validation"]["by_task"]["bel"] == pytest.approx(own["bel"], abs=0.2)


def test_the_mean_of_the_last_kept_weights_can_be_the_start(tensors, trained, tmp_path):
    train_run(tuned(average_of=2), tensors, tmp_path, start=trained)
    kept = [read_weights(trained / "checkpoints" / f"update_{n}.pt") for n in (3, 6)]
    name = "decoder.layers.0.fc1.weight"
    assert torch.allclose(
        weights_of(tmp_path)[name], (kept[0][name] + kept[1][name]) / 2, atol=1e-7
    )


def test_a_run_that_starts_from_one_that_did_not_finish_ends_as_that_one(tensors, tmp_path):
    outcome = {"kind": "diverged", "update": 7, "reason": "the loss is not finite"}
    write_record(tmp_path / "base" / "training.json", training(outcome=outcome))
    run, base = tmp_path / "run", tmp_path / "base"
    outcome = train_run(tuned(), tensors, run, start=base)["outcome"]
    assert (outcome["kind"], outcome["update"]) == ("diverged", 0)
    assert outcome["reason"] == "paper/static_3_3, from which it starts: the loss is not finite"


def test_a_run_whose_start_has_not_ended_is_told_what_to_train(tensors, tmp_path):
    with refused("the training has not ended", remedy="train paper/static_3_3 first"):
        train_run(tuned(), tensors, tmp_path / "run", start=tmp_path / "base")


def test_weights_of_another_shape_of_network_are_refused(tensors, trained, tmp_path):
    deeper = tuned().model.model_copy(update={"encoder_layers": 4})
    with refused("its weights do not fit this network ("):
        train_run(replace(tuned(), model=deeper), tensors, tmp_path, start=trained)


def test_frozen_weights_and_nothing_else_are_refused(tensors, trained, tmp_path):
    still = replace(tuned(), method=method("layerdrop", BOTH, p=0.5))
    with refused("nothing is left to train", remedy="choose a method that adds parameters"):
        train_run(still, tensors, tmp_path, start=trained)


def test_gates_alone_can_be_learnt_over_frozen_weights(tensors, trained, tmp_path):
    gated = replace(tuned(), method=method("latent_layers", BOTH))
    train_run(gated, tensors, tmp_path, start=trained)
    before, after = weights_of(trained), weights_of(tmp_path)
    assert all(torch.equal(after[name], value) for name, value in before.items())
    assert after["encoder.method.alpha"].any()
