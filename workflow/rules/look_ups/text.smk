# Look-ups of the rules that make text ready for training.
CORPORA = TARGETS.corpora


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


def preparing_memory_of(wildcards, input):
    """Return the memory that preparing a corpus asks for, in MB."""
    return setup.ask(CORPORA.preparing_memory, wildcards.data, input)


def learning_memory_of(wildcards, input):
    """Return the memory that training subword models asks for, in MB."""
    return setup.ask(CORPORA.learning_memory, wildcards.data, input)


def reading_memory_of(wildcards, input):
    """Return the memory that a job asks for that reads a corpus line by line, in MB."""
    return stream_memory(input)
