# The comparison with what the papers report. Alone it trains nothing.


report: "../report/workflow.rst"


rule compare_cells:
    input:
        TARGETS.compared(),
        TARGETS.judged_by(),
    output:
        TARGETS.paths.compare,
        report(
            TARGETS.paths.compare.with_suffix(".html"),
            caption="../report/compare.rst",
            category="comparison",
        ),
        TARGETS.paths.top / "deviations.md",
    log:
        TARGETS.paths.top / "logs" / "compare_cells.log",
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    params:
        scale=TARGETS.scale,
        manifests=len(TARGETS.compared()),
    shell:
        "fathom compare --scale {params.scale} 2>&1 | tee {log:q}"
