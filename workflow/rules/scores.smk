# Translations of held-out text and their scores. Each metric but BLEU and chrF has a job of its own.
OTHER_METRICS = "|".join(name for name in plugins.names("metrics") if name not in ALWAYS_SCORED)


rule translate_run:
    """Make all translations of a run that tables ask for, in one process."""
    input:
        training=rules.train_run.output.training,
    output:
        asked=f"{RUN}/decodings/asked-{{hash}}.json",
    log:
        f"{LOGS}/translate_run/{{run}}.{{seed}}.{{hash}}.log",
    conda:
        "../../envs/fathom.yaml"
    threads: cores_of("translate_run")
    resources:
        **resources_of("translate_run"),
    params:
        recipe=RECIPE["decoding"],
    shell:
        "exec fathom-logged {log:q} fathom translate {wildcards.run:q} --seed {wildcards.seed:q}"


rule score_decoding:
    """Score translations with BLEU and chrF."""
    input:
        training=rules.train_run.output.training,
        translations=decodings_of,
        text=test_text_of,
    output:
        measured=f"{RUN}/measurements/scores.{{split}}.{{gates}}-{{hash}}.json",
    log:
        f"{LOGS}/score_decoding/{{run}}.{{seed}}.{{split}}.{{gates}}-{{hash}}.log",
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    resources:
        login=LOGIN,
    params:
        recipe=RECIPE["scoring"],
        settings=scoring_of,
    shell:
        "exec fathom-logged {log:q} fathom score {wildcards.run:q} --seed {wildcards.seed:q} --split {wildcards.split:q}"
        " --gates {wildcards.gates:q} --metric bleu"


rule score_metric:
    """Score translations with another metric, which leaves all other scores as they are."""
    input:
        training=rules.train_run.output.training,
        translations=decodings_of,
        text=test_text_of,
    output:
        measured=f"{RUN}/measurements/{{metric}}.{{split}}.{{gates}}-{{hash}}.json",
    log:
        f"{LOGS}/score_metric/{{run}}.{{seed}}.{{metric}}.{{split}}.{{gates}}-{{hash}}.log",
    wildcard_constraints:
        metric=OTHER_METRICS,
    conda:
        "../../envs/fathom.yaml"
    resources:
        gpu=gpus_of_metric,
        mem_mb=8000,
        runtime=120,
    params:
        recipe=RECIPE["scoring"],
        settings=scoring_of,
    shell:
        "exec fathom-logged {log:q} fathom score {wildcards.run:q} --seed {wildcards.seed:q} --split {wildcards.split:q}"
        " --gates {wildcards.gates:q} --metric {wildcards.metric:q}"


rule find_best_window:
    """Score the checkpoints that validation text chooses."""
    input:
        training=rules.train_run.output.training,
        text=test_text_of,
    output:
        measured=f"{RUN}/measurements/window.{{gates}}-{{hash}}.json",
    log:
        f"{LOGS}/find_best_window/{{run}}.{{seed}}.{{gates}}-{{hash}}.log",
    conda:
        "../../envs/fathom.yaml"
    threads: cores_of("find_best_window")
    resources:
        **resources_of("find_best_window"),
    params:
        recipe=RECIPE["scoring"],
        settings=window_scoring_of,
        size=window_of,
    shell:
        "exec fathom-logged {log:q} fathom best-window {wildcards.run:q} --seed {wildcards.seed:q} --gates {wildcards.gates:q}"
