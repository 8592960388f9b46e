# Hypotheses, scores, and the manifest that says everything about a run.


rule translate_run:
    input:
        rules.train_run.output,
    output:
        f"{SCALE}/runs/{{run}}/{{seed}}/decodings/{{gates}}/decoding.json",
    log:
        f"{SCALE}/logs/translate_run/{{run}}.{{seed}}.{{gates}}.log",
    conda:
        "../../envs/fathom.yaml"
    resources:
        device=config["device"],
    params:
        settings=lambda wildcards: TARGETS.decoding_settings(wildcards.run),
    shell:
        "fathom translate {wildcards.run} --seed {wildcards.seed} --gates {wildcards.gates}"
        " --scale {wildcards.scale} --device {resources.device} 2>&1 | tee {log:q}"


rule score_decoding:
    input:
        rules.translate_run.output,
        lambda wildcards: ancient(TARGETS.corpus(wildcards.run)),
    output:
        f"{SCALE}/runs/{{run}}/{{seed}}/decodings/{{gates}}/scores.tsv",
    log:
        f"{SCALE}/logs/score_decoding/{{run}}.{{seed}}.{{gates}}.log",
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    params:
        settings=lambda wildcards: TARGETS.scoring_settings(wildcards.run),
    shell:
        "fathom score {wildcards.run} --seed {wildcards.seed} --gates {wildcards.gates}"
        " --scale {wildcards.scale} 2>&1 | tee {log:q}"


rule conclude_run:
    input:
        rules.train_run.output,
        # The tensors, too, are read, but as an input of this rule lost ones would train again.
        lambda wildcards: ancient(TARGETS.corpus(wildcards.run)),
        lambda wildcards: TARGETS.scores(wildcards.run, wildcards.seed),
    output:
        f"{SCALE}/runs/{{run}}/{{seed}}/manifest.json",
    log:
        f"{SCALE}/logs/conclude_run/{{run}}.{{seed}}.log",
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    params:
        compared=lambda wildcards: TARGETS.compared_settings(wildcards.run),
    shell:
        "fathom conclude {wildcards.run} --seed {wildcards.seed} --scale {wildcards.scale}"
        " 2>&1 | tee {log:q}"
