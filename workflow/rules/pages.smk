# One page for each paper: tables, figures, curves, claims, deviations, data and cost.


# As `compare`: it waits for nothing, and comes last on one machine.
rule page:
    """Write the page of every paper from the results that exist; trains nothing."""
    input:
        needed_for("page"),
    log:
        f"{SCALE}/logs/page.log",
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
        "exec fathom-logged {log:q} fathom page --scale {params.scale:q}"


rule paper_page:
    """Write the page of one paper, after its runs."""
    input:
        results=page_results_of,
        printed=page_config_of,
    output:
        f"{SCALE}/{{paper}}.html",
    log:
        f"{SCALE}/logs/paper_page/{{paper}}.log",
    wildcard_constraints:
        paper="|".join(TARGETS.project.papers),
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    resources:
        login=LOGIN,
    params:
        scale=TARGETS.scale,
    shell:
        "exec fathom-logged {log:q} fathom page {wildcards.paper:q} --scale {params.scale:q}"
