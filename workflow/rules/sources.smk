# Text as its owners publish it; all scales share it.


rule fetch_source:
    """Download one source and check its checksum."""
    output:
        source=f"{RESULTS}/sources/{{source}}/source.json",
    log:
        f"{LOGS}/fetch_source/{{source}}.log",
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    shell:
        "exec fathom-logged {log:q} fathom fetch {wildcards.source:q}"
