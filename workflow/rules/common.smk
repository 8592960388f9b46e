# Look-ups of the rules: named functions, thin over fathom.workflow.
RUNS, CORPORA = TARGETS.runs, TARGETS.corpora


def needed_for(target):
    """Return an input function: the files of a target; it also prints what will be trained."""

    def needed(wildcards):
        files = setup.ask(TARGETS.files, target)
        if workflow.is_main_process:
            lines = setup.ask(plan.lines, TARGETS, target)
            lines += setup.ask(cluster_start.lines, workflow, TARGETS, target)
            print(*lines, sep="\n", file=sys.stderr)
        return files

    return needed


def refuse_target(wildcards):
    """End with the nearest name of a target."""
    sys.exit(f"fathom: {TARGETS.unknown(wildcards.target)}")


def sources_of(wildcards):
    """Return the fetched sources of a corpus."""
    return [ancient(path) for path in setup.ask(CORPORA.sources, wildcards.data)]


def corpus_of(wildcards):
    """Return the corpus that subword models are trained on."""
    return ancient(setup.ask(CORPORA.corpus, wildcards.data))


def subwords_of(wildcards):
    """Return the subword models with which text is encoded."""
    return ancient(setup.ask(CORPORA.subwords, wildcards.data))


def text_of(wildcards):
    """Return the corpus that is encoded."""
    return ancient(setup.ask(CORPORA.text, wildcards.data))


def tensors_of(wildcards):
    """Return the encoded text that a run is trained on."""
    return ancient(setup.ask(RUNS.tensors, wildcards.run))


def start_of(wildcards):
    """Return the training that a run starts from, if it starts from one."""
    return setup.ask(RUNS.start, wildcards.run, wildcards.seed)


def retrain_of(wildcards):
    """Return a file that is newer than a stale training, if the user retrains those."""
    return setup.ask(RUNS.retrain, wildcards.run, wildcards.seed)


def recipe_of(wildcards):
    """Return the recipe of a training, which trains again where it changes."""
    return setup.ask(RUNS.recipe, wildcards.run, wildcards.seed)


def test_text_of(wildcards):
    """Return the corpus that a run is tested on."""
    return ancient(setup.ask(RUNS.corpus, wildcards.run))


def memory_of(wildcards):
    """Return the memory that a job of a run asks for, in MB."""
    return setup.ask(RUNS.memory, wildcards.run)


def preparing_memory_of(wildcards, input):
    """Return the memory that preparing a corpus asks for, in MB."""
    return setup.ask(CORPORA.preparing_memory, wildcards.data, input)


def preparing_threads_of(wildcards):
    """Return how many processors preparing a corpus asks for."""
    return setup.ask(CORPORA.preparing_threads, wildcards.data)


def learning_memory_of(wildcards, input):
    """Return the memory that training subword models asks for, in MB."""
    return setup.ask(CORPORA.learning_memory, wildcards.data, input)


def reading_memory_of(wildcards, input):
    """Return the memory that a job asks for that reads a corpus line by line, in MB."""
    return stream_memory(input)


def asked_of(wildcards):
    """Return the file that says that a run's decodings are made."""
    return setup.ask(RUNS.asked, wildcards.run, wildcards.seed)


def scoring_of(wildcards):
    """Return the hash of a run's settings of scoring."""
    return setup.ask(RUNS.scoring, wildcards.run)


def window_of(wildcards):
    """Return how many checkpoints a run's best window has."""
    return setup.ask(RUNS.window, wildcards.run)


def summarised_of(wildcards):
    """Return the measurements that a run's manifest gathers."""
    return setup.ask(RUNS.summarised, wildcards.run, wildcards.seed)


def artefact_of(wildcards):
    """Return a table or figure that can be made."""
    return setup.ask(TARGETS.artefact, f"{wildcards.paper}_{wildcards.artefact}")


def measured_of(wildcards):
    """Return the measurements that a table or figure shows."""
    return TARGETS.measured(artefact_of(wildcards))


def printed_of(wildcards):
    """Return the paper's numbers that a table or figure shows too."""
    return TARGETS.printed(artefact_of(wildcards))


def page_results_of(wildcards):
    """Return the results that a paper's page is made of."""
    return TARGETS.page_results(wildcards.paper)


def page_config_of(wildcards):
    """Return what config says of a paper, which its page shows too."""
    return TARGETS.page_config(wildcards.paper)


def definition_of(wildcards):
    """Return the hash of what config says of a table or figure: a changed one is drawn again."""
    return TARGETS.definition(artefact_of(wildcards))


def caption_of(wildcards):
    """Return the caption of a table or figure, as text that is no markup."""
    return plain_text(artefact_of(wildcards).drawn.caption)


def labels_of(wildcards):
    """Return how the report names a table or figure: `Table <number> · <title>`."""
    drawn = artefact_of(wildcards).drawn
    return {"artefact": script_text(label(drawn.name, drawn.title))}


def category_of(wildcards):
    """Return the title of a paper, as the report's script can hold it."""
    return script_text(TARGETS.project.papers[wildcards.paper].about.title)


def paper_of(wildcards):
    """Return the title of a paper, as text that is no markup."""
    return plain_text(TARGETS.project.papers[wildcards.paper].about.title)


def reduced_of(wildcards):
    """Return a sentence for the caption where runs do not have the paper's own settings."""
    return plain_text(TARGETS.reduced(artefact_of(wildcards)))
