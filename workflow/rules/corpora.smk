# Clean, split, line-aligned text. No params before training: docs/architecture.md says why.


rule prepare_task:
    """Clean and split the text of one task, where tasks are independent."""
    input:
        sources=sources_of,
    output:
        task=f"{RESULTS}/corpora/{{data}}/{{task}}/task.json",
    log:
        f"{LOGS}/prepare_task/{{data}}.{{task}}.log",
    conda:
        "../../envs/fathom.yaml"
    resources:
        mem_mb=reading_memory_of,
        runtime=minutes_of,
    shell:
        "exec fathom-logged {log:q} fathom prepare {wildcards.data:q} --task {wildcards.task:q}"


rule prepare_corpus:
    """Clean and split the text of a data set, or join its tasks."""
    input:
        sources=text_sources_of,
    output:
        corpus=f"{RESULTS}/corpora/{{data}}/corpus.json",
    log:
        f"{LOGS}/prepare_corpus/{{data}}.log",
    conda:
        "../../envs/fathom.yaml"
    resources:
        mem_mb=preparing_memory_of,
        runtime=480,
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
    resources:
        mem_mb=reading_memory_of,
        runtime=120,
    params:
        recipe=RECIPE["scoring"],
    shell:
        "exec fathom-logged {log:q} fathom prepare {wildcards.data:q} --count"
