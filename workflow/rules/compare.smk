# The comparison with the numbers that the papers report.


# It waits for nothing: asked for with other targets it would come first, so it takes the lowest
# priority and all cores, which makes it last on one machine. On a cluster call it apart.
rule compare:
    """Compare reported cells with the results that exist; trains nothing."""
    input:
        needed_for("compare"),
    log:
        f"{SCALE}/logs/compare.log",
    priority: -1
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    threads: ALONE
    resources:
        login=LOGIN,
    params:
        scale=TARGETS.scale,
    shell:
        "exec fathom-logged {log:q} fathom compare --scale {params.scale:q}"


rule compare_all:
    """Compare all reported cells, after every run."""
    input:
        results=TARGETS.all_results,
        reported=TARGETS.judged_by(TARGETS.project.papers),
    output:
        csv=TARGETS.paths.compare,
        deviations=SCALE / "deviations.md",
    log:
        f"{SCALE}/logs/compare_all.log",
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    resources:
        login=LOGIN,
    params:
        scale=TARGETS.scale,
        results=TARGETS.all_results_hash,
    shell:
        "exec fathom-logged {log:q} fathom compare --scale {params.scale:q}"
