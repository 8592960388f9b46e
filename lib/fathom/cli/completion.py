"""`fathom completion`: what a shell completes after `fathom`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from fathom.artefacts.needs import Needs
from fathom.cli.options import open_project
from fathom.config.project import Project
from fathom.io.errors import FathomError, nearest
from fathom.results.deletable import KINDS

Shell = Annotated[str, typer.Argument(help="bash or zsh.")]

_SCRIPT = """\
_fathom() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
    local verb="" kind=names choices="" at=1
    # --project may come before the verb; bash cuts --project=FOLDER into three words.
    while [ "$at" -lt "$COMP_CWORD" ] && [ -z "$verb" ]; do
        case "${{COMP_WORDS[at]}}" in
            --project) [ "${{COMP_WORDS[at + 1]}}" = "=" ] && at=$((at + 1)); at=$((at + 1)) ;;
            -*) ;;
            *) verb="${{COMP_WORDS[at]}}" ;;
        esac
        at=$((at + 1))
    done
    case "$word" in -*) kind=options ;; esac
    case "$verb $before" in
        ' --project'|' =') ;;
{after}
        *) case "$verb $kind" in
{verbs}
        esac ;;
    esac
    COMPREPLY=($(compgen -W "$choices" -- "$word"))
}}
complete -o default -F _fathom fathom
"""
# zsh understands the script of bash after these lines.
SHELLS = {"bash": "", "zsh": "autoload -Uz compinit bashcompinit\ncompinit\nbashcompinit\n"}


def completion(shell: Shell) -> None:
    """Print a script that completes words in a shell.

    It knows verbs, options and the names of this project. docs/installation.md
    says where a shell looks for it.

    Example: fathom completion bash
    """
    from fathom.cli.list import KINDS as LISTED
    from fathom.cli.verbs import build

    if shell not in SHELLS:
        raise FathomError(f"no shell '{shell}'", "completion", nearest(shell, SHELLS))
    names = {**_names(open_project(check=False)), "list": [*LISTED]}
    application = typer.main.get_command(build())
    commands: Mapping[str, Any] = vars(application)["commands"]
    verbs: dict[str, Sequence[str]]
    verbs = {"' names'": [*commands], "' options'": _options(application)}
    after = {"*' --scale'": names["scale"]}
    for verb, command in commands.items():
        arguments = [one.name for one in command.params if one.param_type_name == "argument"]
        verbs[f"'{verb} names'"] = (
            names.get(verb) or names.get(arguments[0], ()) if arguments else ()
        )
        verbs[f"'{verb} options'"] = _options(command)
        for option in command.params:
            if option.name == "table" and not option.is_flag:
                after[f"'{verb} --table'"] = names["table"]
    print(SHELLS[shell] + _SCRIPT.format(after=_cases(after), verbs=_cases(verbs)), end="")


def _names(project: Project) -> Mapping[str, Sequence[str]]:
    """Return the names that a verb takes, by its name, or that of its argument or option."""
    artefacts = Needs(project, project.switches.scale).artefacts
    drawn = {
        verb: [name for name, artefact in artefacts.items() if artefact.verb == verb]
        for verb in ("table", "figure")
    }
    lasts = {name: name.rpartition("/")[2] for name in project.entries}
    short = Counter(lasts.values())
    runs = [name if short[last] > 1 else last for name, last in lasts.items()]
    return {
        "run": runs,
        "names": [*runs, *drawn["table"]],
        "paper": [*project.papers],
        "dataset": [*project.datasets],
        "data": [*project.datasets],
        "source": [*project.sources],
        "scale": [*project.scales],
        "target": [*artefacts],
        "kinds": [*KINDS],
        "shell": [*SHELLS],
    } | drawn


def _options(command: Any) -> list[str]:
    """Return the options of a command, in their order."""
    options = (one for one in command.params if one.param_type_name == "option")
    return [*(name for option in options for name in option.opts), "--help"]


def _cases(choices: Mapping[str, Sequence[str]]) -> str:
    """Return lines of a shell's `case`, by pattern; patterns without choices are left out."""
    lines = (f'        {key}) choices="{" ".join(own)}" ;;' for key, own in choices.items() if own)
    return "\n".join(lines)
