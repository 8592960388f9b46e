"""Verbs, options, functions and keys of earlier versions, each with what does the same today.

A script or a config of an earlier version is refused in one line that says what to type.
"""

# Verbs of `fathom`.
VERBS: dict[str, str] = {
    "summary": "`fathom status` prints it below the state of the trainings",
    "statistics": "run `fathom prepare <data> --count`",
    "cluster": "write the profile yourself: docs/cluster.md has two that are complete",
    "sweep": "write the runs with `for` into a study (docs/study.md)",
    "contracts": "write a test of three lines (docs/adding_a_method.md, docs/adding_a_metric.md)",
    "schema": "the classes of lib/fathom/config/schema, and the page Settings of the site, "
    "describe each key",
    "pack": "write a run to a file by "
    "`tar czf run.tar.gz -C results runs/<paper>/<folder>/<seed>` (docs/output.md)",
    "unpack": "type `tar xzkf run.tar.gz -C results`, then `fathom verify <run>` (docs/output.md)",
    "repair": "run the commands that `fathom verify` prints",
    "curves": "draw those of a table's rows with `fathom figure <paper>_<table> --curves`",
}

# Options, by verb and option, as in "plan --calibrate".
_PRINTED = "read what it prints; list, status, plan, compare and test have --json"
OPTIONS: dict[str, str] = {
    "table --json": "read the csv, or `fathom.open().table` in Python (docs/python.md)",
    "claims --json": "read claims.csv, or `fathom.open().claims` in Python (docs/python.md)",
    "show --json": "use `settings` of a run in Python (docs/python.md)",
    **dict.fromkeys(
        (f"{verb} --json" for verb in ("validate", "where", "params", "diff", "verify", "clean")),
        _PRINTED,
    ),
    "plan --calibrate": "leave it out: trainings here are measured after 200 updates",
}

# Functions of claims, which took figures.
FUNCTIONS: dict[str, str] = dict.fromkeys(
    ("agreement", "alike", "end", "first", "last", "median", "others", "sd"),
    "a sentence about a figure has `figures` in place of `claim` (docs/claims.md)",
)

# Keys of config, by the class of config/schema and the key, as in "DecodingSettings.decoder".
KEYS: dict[str, str] = {
    "TableSettings.beside": "delete it: blocks are printed below each other",
    "TableSettings.first": "write into `caption` what must come first, and why",
    "TableSettings.largest": "delete it: the columns show the largest with a result",
    "TableSettings.names": "write both into `labels`, as En: 'En: English'",
    "TableSettings.unequal": "write the reason into `caption`; the table says that rows differ",
    "Decoding.decoder": "delete it; `fathom export --format ctranslate2` writes a run for "
    "CTranslate2 (docs/export.md)",
}
