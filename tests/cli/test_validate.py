"""`fathom validate`: config/ is checked."""

import shutil


def test_what_is_right_is_counted(project, call):
    answer = call("validate")
    assert answer.code == 0
    assert answer.out.startswith("config/ is right: ")
    for kind in ("papers", "sources", "datasets", "methods", "scales"):
        folder = project / "config" / kind
        pattern = "*/paper.yaml" if kind == "papers" else "*.yaml"
        amount = len(list(folder.glob(pattern)))
        assert f"{amount} {kind.replace('datasets', 'data sets')}" in answer.out


def test_what_no_schema_can_say_is_found_too(project, call):
    path = project / "config" / "papers" / "latent_depth" / "runs.yaml"
    text = path.read_text(encoding="utf-8").replace("dataset: ted8_diverse", "dataset: ted8_divers")
    path.write_text(text, encoding="utf-8")
    answer = call("validate")
    assert (answer.code, answer.out) == (1, "")
    first = answer.err.split("\n")[0]
    assert "config/papers/latent_depth/runs.yaml:5" in first
    assert "no data set 'ted8_divers'; nearest valid name: 'ted8_diverse'" in first


def test_a_wrong_reported_number_is_found_before_anything_is_compared(project, call):
    """It was found only when a table had been trained and was to be compared."""
    path = project / "config" / "papers" / "latent_depth" / "table5.csv"
    path.write_text(path.read_text("utf-8").replace("6/6,bos,20.7", "6/6,bos,2O.7"), "utf-8")
    answer = call("validate")
    assert answer.code == 1
    assert "table5.csv:3: '2O.7' is no number; write the digits as printed" in answer.one_line


def test_a_missing_file_of_switches_is_no_project(project, call):
    (project / "config" / "config.yaml").unlink()
    assert "no fathom project here" in call("validate").one_line


def test_an_empty_folder_of_scales_is_told(project, call):
    shutil.rmtree(project / "config" / "scales")
    assert "no scale 'tiny'; valid names: none" in call("validate").one_line
