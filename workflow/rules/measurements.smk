# Other measurements of a run. Each rule measures one thing, in a file of its own; a table takes the
# files that it shows as input.


rule measure_likelihood:
    """Measure NLL and perplexity on held-out text."""
    input:
        training=rules.train_run.output.training,
    output:
        measured=f"{RUN}/measurements/likelihood.{{split}}.{{gates}}-{{hash}}.json",
    log:
        f"{LOGS}/measure_likelihood/{{run}}.{{seed}}.{{split}}.{{gates}}-{{hash}}.log",
    conda:
        "../../envs/fathom.yaml"
    threads: cores_of("measure_likelihood")
    resources:
        **resources_of("measure_likelihood"),
    params:
        recipe=RECIPE["scoring"],
    shell:
        "exec fathom-logged {log:q} fathom likelihood {wildcards.run:q} --seed {wildcards.seed:q} --split {wildcards.split:q}"
        " --gates {wildcards.gates:q}"


rule measure_gates:
    """Read which layers a run's gates select."""
    input:
        training=rules.train_run.output.training,
    output:
        measured=f"{RUN}/measurements/gates.json",
    log:
        f"{LOGS}/measure_gates/{{run}}.{{seed}}.log",
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    resources:
        login=LOGIN,
    params:
        recipe=RECIPE["scoring"],
    shell:
        "exec fathom-logged {log:q} fathom gates {wildcards.run:q} --seed {wildcards.seed:q}"


rule measure_sharing:
    """Measure how much the tasks of a run share."""
    input:
        training=rules.train_run.output.training,
    output:
        measured=f"{RUN}/measurements/sharing.json",
    log:
        f"{LOGS}/measure_sharing/{{run}}.{{seed}}.log",
    localrule: True
    conda:
        "../../envs/fathom.yaml"
    resources:
        login=LOGIN,
    params:
        recipe=RECIPE["scoring"],
    shell:
        "exec fathom-logged {log:q} fathom sharing {wildcards.run:q} --seed {wildcards.seed:q}"
