# Targets that a user types. These rules only gather files; the work is in the other rules.


for paper in TARGETS.project.papers:

    rule:
        """Make all tables and figures of this paper but controls of ours."""
        name:
            paper
        input:
            needed_for(paper),


for artefact in TARGETS.artefacts:

    rule:
        """Make this table or figure."""
        name:
            artefact
        input:
            needed_for(artefact),


rule:
    """Make runs from text to scores: add --config run=<paper>/<run>."""
    name:
        "run"
    input:
        needed_for("run"),


rule data_statistics:
    """Make the tables that count text; trains nothing."""
    input:
        needed_for("data_statistics"),


for table in TARGETS.tables:

    rule:
        """Make the runs of one row: add --config row=<row>."""
        name:
            f"{table}_row"
        input:
            needed_for(f"{table}_row"),
