# What the papers say, judged on the results and on the papers' own cells.


# As `compare`, it waits for nothing.
rule claims:
    """Judge claims on the results that exist; trains nothing."""
    input:
        needed_for("claims"),
    log:
        f"{SCALE}/logs/claims.log",
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
        "exec fathom-logged {log:q} fathom claims --counts --scale {params.scale:q}"


rule claims_all:
    """Judge all claims, after every run."""
    input:
        results=TARGETS.all_results,
        claimed=TARGETS.judged_by(TARGETS.project.papers, "claims", "figures"),
    output:
        csv=TARGETS.paths.claims,
    log:
        f"{SCALE}/logs/claims_all.log",
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    resources:
        login=LOGIN,
    params:
        scale=TARGETS.scale,
        results=TARGETS.all_results_hash,
    shell:
        "exec fathom-logged {log:q} fathom claims --counts --scale {params.scale:q}"
