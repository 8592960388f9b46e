# Pieces, dictionaries and tensors.


rule train_subwords:
    input:
        lambda wildcards: ancient(
            TARGETS.paths.corpus(TARGETS.data(wildcards.data)) / "corpus.json"
        ),
    output:
        f"{SCALE}/subwords/{{data}}/subwords.json",
    log:
        f"{SCALE}/logs/train_subwords/{{data}}.log",
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    shell:
        "fathom subwords {wildcards.data} --scale {wildcards.scale} 2>&1 | tee {log:q}"


rule encode_text:
    input:
        ancient(rules.train_subwords.output),
    output:
        f"{SCALE}/tensors/{{data}}/tensors.json",
    log:
        f"{SCALE}/logs/encode_text/{{data}}.log",
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    shell:
        "fathom encode {wildcards.data} --scale {wildcards.scale} 2>&1 | tee {log:q}"
