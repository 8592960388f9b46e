# What a user types. These rules only gather; the work stands in the files that follow.


rule compare:
    input:
        TARGETS.paths.compare,


for paper in TARGETS.catalog.papers:

    rule:
        name:
            paper
        input:
            TARGETS.paper(paper),


for target, (paper, artefact) in TARGETS.artefacts.items():

    rule:
        name:
            target
        input:
            TARGETS.wanted(paper, artefact),

    rule:
        name:
            f"{target}_row"
        input:
            lambda wildcards, target=target: TARGETS.manifests_of([TARGETS.row_run(target)]),
