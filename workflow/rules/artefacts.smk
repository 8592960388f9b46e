# Tables and figures, drawn from manifests alone.


rule draw_table:
    input:
        lambda wildcards: TARGETS.manifests(wildcards.paper, wildcards.artefact),
    output:
        report(
            f"{SCALE}/{{paper}}/{{artefact}}.html",
            caption="../report/table.rst",
            category="{paper}",
            subcategory="tables",
        ),
        multiext(f"{SCALE}/{{paper}}/{{artefact}}", ".csv", ".md", ".tex"),
    log:
        f"{SCALE}/logs/draw_table/{{paper}}_{{artefact}}.log",
    wildcard_constraints:
        artefact=TARGETS.pattern("table"),
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    params:
        scale=TARGETS.scale,
        caption=lambda wildcards: TARGETS.caption(wildcards.paper, wildcards.artefact),
        definition=lambda wildcards: TARGETS.definition(wildcards.paper, wildcards.artefact),
    shell:
        "fathom table {wildcards.paper}_{wildcards.artefact} --scale {params.scale}"
        " 2>&1 | tee {log:q}"


rule draw_figure:
    input:
        lambda wildcards: TARGETS.manifests(wildcards.paper, wildcards.artefact),
    output:
        report(
            f"{SCALE}/{{paper}}/{{artefact}}.png",
            caption="../report/figure.rst",
            category="{paper}",
            subcategory="figures",
        ),
        multiext(f"{SCALE}/{{paper}}/{{artefact}}", ".csv", ".pdf"),
    log:
        f"{SCALE}/logs/draw_figure/{{paper}}_{{artefact}}.log",
    wildcard_constraints:
        artefact=TARGETS.pattern("figure"),
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    params:
        scale=TARGETS.scale,
        caption=lambda wildcards: TARGETS.caption(wildcards.paper, wildcards.artefact),
        definition=lambda wildcards: TARGETS.definition(wildcards.paper, wildcards.artefact),
    shell:
        "fathom figure {wildcards.paper}_{wildcards.artefact} --scale {params.scale}"
        " 2>&1 | tee {log:q}"
