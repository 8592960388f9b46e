# Pieces, dictionaries and tensors. No params before training: docs/architecture.md says why.


rule train_subwords:
    """Train subword models and dictionaries on a corpus."""
    input:
        corpus=pieces_of,
    output:
        subwords=f"{RESULTS}/subwords/{{data}}/subwords.json",
    log:
        f"{LOGS}/train_subwords/{{data}}.log",
    conda:
        "../../envs/fathom.yaml"
    resources:
        mem_mb=learning_memory_of,
        runtime=480,
    shell:
        "exec fathom-logged {log:q} fathom subwords {wildcards.data:q}"


rule encode_text:
    """Encode a corpus into pieces."""
    input:
        subwords=subwords_of,
        corpus=text_of,
    output:
        tensors=f"{RESULTS}/tensors/{{data}}/tensors.json",
    log:
        f"{LOGS}/encode_text/{{data}}.log",
    conda:
        "../../envs/fathom.yaml"
    resources:
        mem_mb=reading_memory_of,
        runtime=480,
    shell:
        "exec fathom-logged {log:q} fathom encode {wildcards.data:q}"
