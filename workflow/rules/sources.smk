# What is fetched; all scales share it.


rule fetch_source:
    output:
        f"{RESULTS}/sources/{{source}}/source.json",
    log:
        f"{RESULTS}/logs/fetch_source/{{source}}.log",
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    shell:
        "fathom fetch {wildcards.source} 2>&1 | tee {log:q}"
