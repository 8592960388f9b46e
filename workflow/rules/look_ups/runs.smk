# Look-ups of the rules that train, translate and measure a run.
RUNS = TARGETS.runs


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


def memory_of(wildcards):
    """Return the memory that a job of a run asks for, in MB."""
    return setup.ask(RUNS.memory, wildcards.run)


def test_text_of(wildcards):
    """Return the corpus that a run is tested on."""
    return ancient(setup.ask(RUNS.corpus, wildcards.run))


def asked_of(wildcards):
    """Return the file that says that a run's decodings are made."""
    return setup.ask(RUNS.asked, wildcards.run, wildcards.seed)


def scoring_of(wildcards):
    """Return the hash of a run's settings of scoring."""
    return setup.ask(RUNS.scoring, wildcards.run)


def window_of(wildcards):
    """Return how many checkpoints a run's best window has."""
    return setup.ask(RUNS.window, wildcards.run)
