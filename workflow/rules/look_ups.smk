# Look-ups of the rules: named functions, thin over fathom.workflow.targets.
PATHS = TARGETS.paths


def needed_for(target):
    """Return an input function: the files of a target; it also prints what will be trained."""

    def needed(wildcards):
        files = setup.ask(TARGETS.files, target)
        if workflow.is_main_process:
            ASKED.append(target)
            setup.ask(start.announce, workflow, SIZES, target)
        return files

    return needed


def refuse_target(wildcards):
    """End with the nearest name of a target."""
    sys.exit(f"fathom: {TARGETS.unknown(wildcards.target)}")


def sources_of(wildcards):
    """Return the fetched sources of a corpus, or of one of its tasks."""
    task = getattr(wildcards, "task", None)
    return [ancient(path) for path in setup.ask(TARGETS.sources, wildcards.data, task)]


def text_sources_of(wildcards):
    """Return the tasks that a corpus joins, or else its sources."""
    return setup.ask(TARGETS.prepared_alone, wildcards.data) or sources_of(wildcards)


def pieces_of(wildcards):
    """Return the corpus that subword models are trained on."""
    return ancient(PATHS.pieces_corpus(setup.ask(TARGETS.data, wildcards.data)) / "corpus.json")


def subwords_of(wildcards):
    """Return the subword models with which text is encoded."""
    return ancient(PATHS.subwords(setup.ask(TARGETS.data, wildcards.data)) / "subwords.json")


def text_of(wildcards):
    """Return the corpus that is encoded."""
    return ancient(PATHS.corpus(setup.ask(TARGETS.data, wildcards.data)) / "corpus.json")


def preparing_memory_of(wildcards, input):
    """Return the memory that preparing a corpus asks for, in MB."""
    is_stream = setup.ask(TARGETS.prepared_alone, wildcards.data)
    return demand.memory_of_stream(input) if is_stream else demand.memory_of_text(input)


def minutes_of(wildcards, input):
    """Return the time limit that preparing one task asks for, in minutes."""
    return demand.minutes_of_stream(input)


def learning_memory_of(wildcards, input):
    """Return the memory that training subword models asks for, in MB."""
    return demand.memory_of_text(input, setup.ask(TARGETS.data, wildcards.data).subwords.sentences)


def reading_memory_of(wildcards, input):
    """Return the memory that a job asks for that reads a corpus line by line, in MB."""
    return demand.memory_of_stream(input)


def run_of(wildcards):
    """Return a run that can be trained."""
    return setup.ask(TARGETS.run, wildcards.run)


def tensors_of(wildcards):
    """Return the encoded text that a run is trained on."""
    return ancient(PATHS.tensors(run_of(wildcards).data) / "tensors.json")


def start_of(wildcards):
    """Return the training that a run starts from, if it starts from one."""
    folder = PATHS.start(run_of(wildcards), int(wildcards.seed))
    return [folder / "training.json"] if folder else []


def retrain_of(wildcards):
    """Return a file that is newer than a stale training, if the user retrains those."""
    return setup.ask(TARGETS.retrain, run_of(wildcards), int(wildcards.seed))


def recipe_of(wildcards):
    """Return the recipe of a training, which trains again where it changes."""
    return setup.ask(TARGETS.recipe, run_of(wildcards), int(wildcards.seed))


def size_of(wildcards, rule):
    """Return what a job of a run asks for."""
    return setup.ask(SIZES.of, run_of(wildcards), rule, int(wildcards.seed))


def resources_of(rule):
    """Return the resources of a rule's jobs, as functions of the run."""

    def of(name):
        return lambda wildcards: size_of(wildcards, rule).resources[name]

    return {name: of(name) for name in ("gpu", "nodes", "cpus_per_gpu", "mem_mb", "runtime")}


def cores_of(rule):
    """Return the cores of a rule's jobs on each node, as a function of the run."""
    return lambda wildcards: size_of(wildcards, rule).cores


def newest_save_of(wildcards):
    """Return the state from which a training is continued; it gets newer with each save."""
    return f"{RESULTS}/runs/{wildcards.run}/{wildcards.seed}/checkpoints/last.pt"


def test_text_of(wildcards):
    """Return the corpus that a run is tested on, and what references are joined by, if they are."""
    spec = run_of(wildcards)
    text = [ancient(PATHS.corpus(spec.data) / "corpus.json")]
    if needs_pieces(spec):
        text.append(ancient(PATHS.subwords(spec.data) / "subwords.json"))
    return text


def decodings_of(wildcards):
    """Return the file that says that a run's decodings are made."""
    return TARGETS.decodings_done(run_of(wildcards), int(wildcards.seed))


def scoring_of(wildcards):
    """Return the hash of a run's settings of scoring."""
    return short(identity(run_of(wildcards).scoring.identity()))


def gpus_of_metric(wildcards):
    """Return how many GPUs a job of a metric asks for."""
    return TARGETS.gpus if setup.ask(metric_named, wildcards.metric).uses_gpu else 0


def window_scoring_of(wildcards):
    """Return the hash of settings of scoring, and of further metrics of a best window."""
    spec = run_of(wildcards)
    metrics = TARGETS.metrics(spec.name, "test", wildcards.gates, "window")
    settings = spec.scoring.identity()
    return short(identity([settings, metrics] if metrics else settings))


def window_of(wildcards):
    """Return how many checkpoints a run's best window has."""
    decoding = run_of(wildcards).decoding
    return decoding and decoding.window


def artefact_of(wildcards):
    """Return a table or figure that can be made."""
    return setup.ask(TARGETS.artefact, f"{wildcards.paper}_{wildcards.artefact}")


def measured_of(wildcards):
    """Return the measurements that a table or figure shows."""
    return TARGETS.measured(artefact_of(wildcards))


def printed_of(wildcards):
    """Return the paper's numbers that a table or figure shows too."""
    return TARGETS.printed(artefact_of(wildcards))


def definition_of(wildcards):
    """Return the hash of what config says of a table or figure: a changed one is drawn again."""
    return TARGETS.definition(artefact_of(wildcards))


def page_results_of(wildcards):
    """Return the results that a paper's page is made of."""
    return TARGETS.page_results(wildcards.paper)


def page_config_of(wildcards):
    """Return what config says of a paper, which its page shows too."""
    return TARGETS.judged_by([wildcards.paper], "claims", "figures")
