# Training. Only training.json is an output: Snakemake deletes outputs before a rerun and after a
# failure, and checkpoints must survive both. It deletes logs as well: train.log, next to the
# checkpoints, keeps the lines of every attempt.


rule train_run:
    """Train one run with one seed; it resumes from its last checkpoint."""
    input:
        tensors=tensors_of,
        start=start_of,
        retrain=retrain_of,
    output:
        training=f"{RUN}/training.json",
    log:
        f"{LOGS}/train_run/{{run}}.{{seed}}.log",
    conda:
        "../../envs/fathom.yaml"
    threads: cores_of("train_run")
    resources:
        **resources_of("train_run"),
        resumes=newest_save_of,
    params:
        recipe=recipe_of,
    shell:
        "exec fathom-logged {log:q} fathom-ranks fathom train {wildcards.run:q} --seed {wildcards.seed:q}"
