# Training. Only training.json is an output: Snakemake deletes outputs before a rerun and after a
# failure, and checkpoints must survive both. It deletes logs as well: train.log, beside the
# checkpoints, keeps the lines of every attempt.


rule train_run:
    input:
        lambda wildcards: ancient(TARGETS.tensors(wildcards.run)),
        lambda wildcards: TARGETS.base(wildcards.run, wildcards.seed),
    output:
        f"{SCALE}/runs/{{run}}/{{seed}}/training.json",
    log:
        f"{SCALE}/logs/train_run/{{run}}.{{seed}}.log",
    conda:
        "../../envs/fathom.yaml"
    # Not a param: another device is no reason to train again.
    resources:
        device=config["device"],
    shell:
        "fathom train {wildcards.run} --seed {wildcards.seed} --scale {wildcards.scale}"
        " --device {resources.device} 2>&1 | tee {log:q}"
