"""Learning curves: points, the unigram baseline, pictures with one axis, numbers."""

import xml.etree.ElementTree as ElementTree

from fathom.artefacts.curves import POINTS, Curve, SeedCurve, curve, pictures, rows, svg
from fathom.artefacts.table.sources import Source
from fathom.io.integrity import hashes, write_record
from tests.support.run_files import training

COLUMNS = ("update", "nll", "valid_nll")
FALLING = tuple((float(update), 8.0 - update / 100) for update in range(1, 401))


def source_of(folder, kind="finished", ended=True):
    """Return a run of one seed with two rows of metrics."""
    own = folder / "1"
    (own / "measurements").mkdir(parents=True)
    lines = ["\t".join(COLUMNS)]
    for update, nll, valid in ((25, 7.0, ""), (50, 6.0, 6.5)):
        row = {"update": update, "nll": nll, "valid_nll": valid}
        lines.append("\t".join(str(row.get(name, "")) for name in COLUMNS))
    (own / "metrics.tsv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    if ended:
        files = {"files": hashes(own, "metrics.tsv")}
        write_record(own / "training.json", training(kind, **files))
    return Source("p/run", {1: own / "measurements"}, lambda key: key)


def test_a_curve_has_both_series_and_the_baseline(tmp_path):
    drawn = curve("Row", source_of(tmp_path), 50)
    (seed,) = drawn.seeds
    assert seed.training == ((25.0, 7.0), (50.0, 6.0))
    assert seed.validation == ((50.0, 6.5),)
    assert seed.unigram == 6.06
    assert drawn.last == 6.5
    assert "unigram baseline 6.06" in drawn.words


def test_a_run_that_failed_has_its_baseline_and_outcome(tmp_path):
    (seed,) = curve("Row", source_of(tmp_path, "failed_to_train"), 50).seeds
    assert seed.unigram == 6.06
    assert "failed to train" in seed.words


def test_a_training_under_way_is_drawn_without_a_baseline(tmp_path):
    (seed,) = curve("Row", source_of(tmp_path, ended=False), 50).seeds
    assert seed.unigram is None
    assert seed.training


def curve_of(*seeds):
    return Curve("Row", "p/run", seeds)


def seed_of(number, nll, update=50.0, words="", unigram=6.06):
    return SeedCurve(number, (), ((25.0, 9.0), (update, nll)), unigram, words)


def test_several_seeds_have_their_mean_and_their_number():
    """The first seed alone was printed, without its number."""
    own = curve_of(seed_of(1, 4.0), seed_of(2, 5.0), seed_of(3, 6.0))
    assert own.last == 5.0
    assert own.words == (
        "validation NLL 5.00 nats at update 50, mean of 3 seeds, unigram baseline 6.06"
    )


def test_seeds_without_a_result_are_named_and_not_in_the_mean():
    diverged = seed_of(2, 90.0, words="diverged (the loss is not finite)")
    own = curve_of(seed_of(1, 4.0), diverged, seed_of(3, 5.0))
    assert own.last == 4.5
    assert "mean of 2 seeds" in own.words
    assert own.words.endswith(", seed 2 diverged (the loss is not finite)")
    assert own.record["seeds_averaged"] == [1, 3]
    assert [seed["reason"] != "" for seed in own.record["seeds"]] == [False, True, False]
    assert "at update 50, seed 1, unigram" in curve_of(seed_of(1, 4.0), diverged).words


def test_where_no_seed_has_ended_all_are_in_the_mean():
    under_way = [
        seed_of(1, 4.0, 50.0, "has not ended", None),
        seed_of(2, 5.0, 75.0, "has not ended", None),
        SeedCurve(3, ((1.0, 9.0),), (), None, "has not ended"),
    ]
    own = curve_of(*under_way)
    assert own.last == 4.5
    assert "at update 50 to 75, mean of 2 seeds, seed 1 has not ended" in own.words
    assert curve_of(under_way[2]).words == "has not ended"
    assert curve_of(under_way[2]).record["last_validation"] is None


def test_a_run_that_was_not_started_has_no_seeds(tmp_path):
    source = Source("p/run", {1: tmp_path / "1" / "measurements"}, lambda key: key)
    assert curve("Row", source, 50).seeds == ()
    assert pictures([curve("Row", source, 50)]) == []


def test_pictures_share_one_axis_and_lower_is_better():
    curves = [
        Curve("a", "p/a", (SeedCurve(1, FALLING, FALLING[-1:], 7.0, ""),)),
        Curve("b", "p/b", (SeedCurve(1, FALLING[:9], (), 7.0, ""),)),
    ]
    first, second = pictures(curves)
    assert first.ticks == second.ticks
    assert first.unigram == second.unigram
    heights = [float(point.split(",")[1]) for point in first.lines[0].training.split(" ")]
    assert heights == sorted(heights)
    # 8 nats are above the axis, which ends a little over the baseline.
    assert first.ticks[-1][0] == "8"


def test_long_lines_are_thinned_and_end_where_the_training_ended():
    (drawn,) = pictures([Curve("a", "p/a", (SeedCurve(1, FALLING, (), 7.0, ""),))])
    points = drawn.lines[0].training.split(" ")
    assert len(points) <= POINTS
    assert drawn.last == 400


def test_the_file_is_xml_that_says_what_it_shows(tmp_path):
    drawn = svg("<Table> & more", [curve("Row <1>", source_of(tmp_path), 50)])
    root = ElementTree.fromstring(drawn)
    texts = [part.text for part in root.iter() if part.text and part.text.strip()]
    assert "<Table> & more" in texts
    assert "Row <1>" in texts


def test_the_numbers_are_all_there(tmp_path):
    frame = rows([curve("Row", source_of(tmp_path), 50)])
    assert list(frame["series"]) == ["nll.train", "nll.train", "nll.valid", "unigram"]
    assert list(frame["nll"]) == [7.0, 6.0, 6.5, 6.06]
