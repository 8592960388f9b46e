# Clean, split, line-aligned text.


rule prepare_corpus:
    input:
        lambda wildcards: [ancient(path) for path in TARGETS.sources(wildcards.data)],
    output:
        f"{SCALE}/corpora/{{data}}/corpus.json",
    log:
        f"{SCALE}/logs/prepare_corpus/{{data}}.log",
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    shell:
        "fathom prepare {wildcards.data} --scale {wildcards.scale} 2>&1 | tee {log:q}"
