# Lets `snakemake` run from the project's folder; the workflow itself is workflow/Snakefile.
include: "workflow/Snakefile"


# A file that only includes has no default target and does nothing.
rule everything:
    """Make everything that can be made; the default."""
    default_target: True
    input:
        rules.all.input,


# No file of the workflow lies in the working folder itself, so this matches only mistyped targets.
rule no_such_target:
    """Refuse a mistyped target with the nearest valid name."""
    input:
        refuse_target,
    output:
        "{target}",
    wildcard_constraints:
        target="[^/]+",
    localrule: True
