# Look-ups of the rules: named functions, thin over fathom.workflow.
include: "look_ups/text.smk"
include: "look_ups/runs.smk"
include: "look_ups/artefacts.smk"


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
