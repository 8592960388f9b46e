# Look-ups of the rules that draw tables, figures and pages.


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
    return plain_text(artefact_of(wildcards).spec.caption)


def labels_of(wildcards):
    """Return how the report names a table or figure: `Table <number> · <title>`."""
    drawn = artefact_of(wildcards).spec
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
