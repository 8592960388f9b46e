# Clean, split, line-aligned text. No params before training: docs/architecture.md says why.


rule prepare_corpus:
    """Clean and split the text of a data set."""
    input:
        sources=sources_of,
    output:
        corpus=f"{RESULTS}/corpora/{{data}}/corpus.json",
    log:
        f"{LOGS}/prepare_corpus/{{data}}.log",
    conda:
        "../../envs/fathom.yaml"
    resources:
        mem_mb=preparing_memory_of,
    shell:
        "exec fathom-logged {log:q} fathom prepare {wildcards.data:q}"


rule measure_corpus:
    """Count pairs or sentences, tokens and types of a corpus."""
    input:
        corpus=rules.prepare_corpus.output.corpus,
    output:
        statistics=f"{RESULTS}/corpora/{{data}}/statistics.json",
    log:
        f"{LOGS}/measure_corpus/{{data}}.log",
    conda:
        "../../envs/fathom.yaml"
    threads: 1
    resources:
        mem_mb=reading_memory_of,
    params:
        recipe=RECIPE["scoring"],
    shell:
        "exec fathom-logged {log:q} fathom statistics {wildcards.data:q}"
