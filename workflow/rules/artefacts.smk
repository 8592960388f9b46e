# Tables and figures, drawn from measurements alone.


rule draw_table:
    """Draw one table of a paper."""
    input:
        measured=measured_of,
        printed=printed_of,
    output:
        page=f"{SCALE}/{{paper}}/{{artefact}}.html",
        others=multiext(f"{SCALE}/{{paper}}/{{artefact}}", ".csv", "_seeds.csv", ".md", ".tex"),
    log:
        f"{SCALE}/logs/draw_table/{{paper}}_{{artefact}}.log",
    wildcard_constraints:
        artefact=TARGETS.table_names,
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    resources:
        login=LOGIN,
    params:
        scale=TARGETS.scale,
        definition=definition_of,
    shell:
        "exec fathom-logged {log:q} fathom table {wildcards.paper:q}_{wildcards.artefact:q} --scale {params.scale:q}"


rule draw_figure:
    """Draw one figure of a paper."""
    input:
        measured=measured_of,
        printed=printed_of,
    output:
        picture=f"{SCALE}/{{paper}}/{{artefact}}.png",
        others=multiext(f"{SCALE}/{{paper}}/{{artefact}}", ".csv", ".pdf"),
    log:
        f"{SCALE}/logs/draw_figure/{{paper}}_{{artefact}}.log",
    wildcard_constraints:
        artefact=TARGETS.other_names,
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    resources:
        login=LOGIN,
    params:
        scale=TARGETS.scale,
        definition=definition_of,
    shell:
        "exec fathom-logged {log:q} fathom figure {wildcards.paper:q}_{wildcards.artefact:q} --scale {params.scale:q}"
