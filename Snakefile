# The front door: reads and checks config/, says what will happen, and names what can be asked for.
import sys
from pathlib import Path

from snakemake.cli import get_argument_parser

from fathom.errors import FathomError
from fathom.workflow import plan, setup


configfile: "config/config.yaml"


HEAD = workflow.is_main_process
TYPED = get_argument_parser().parse_known_args(sys.argv[1:])[0].targets if HEAD else []

setup.use_own_tools()
try:
    TARGETS = setup.begin(Path.cwd(), config, TYPED, check=HEAD)
except FathomError as error:
    sys.exit(str(error))

if HEAD:
    print(*plan.lines(TARGETS), sep="\n", file=sys.stderr)

RESULTS = TARGETS.paths.results
SCALE = RESULTS / "{scale}"


wildcard_constraints:
    scale=TARGETS.scale,
    seed=r"\d+",
    gates="plain|soft|hard",
    data=r"[a-z0-9_]+-[0-9a-f]{8}",
    run=r"[a-z0-9_]+-[0-9a-f]{8}",


include: "workflow/rules/targets.smk"
include: "workflow/rules/sources.smk"
include: "workflow/rules/corpora.smk"
include: "workflow/rules/subwords.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/scores.smk"
include: "workflow/rules/artefacts.smk"
include: "workflow/rules/report.smk"


# Here, since Snakemake takes no default from an included file.
rule all:
    default_target: True
    input:
        [path for paper in TARGETS.catalog.papers for path in TARGETS.paper(paper)],
        TARGETS.paths.compare,
