"""What a run is, resolved: nothing implicit is left, and nothing that does not change the result.

The field names are the keys of `workflow/schemas/runs.schema.yaml`, which describes each.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

from fathom.io.hashes import identity, short


@dataclass(frozen=True)
class Subwords:
    """How text becomes pieces, with one model for a side ("joint") or one a task ("per_task")."""

    algorithm: str
    source_vocabulary: int
    source_parts: str
    target_vocabulary: int
    target_parts: str


@dataclass(frozen=True)
class Data:
    """Which text, in which direction, in which pieces.

    `definition` is the resolved data set (sources with checksums, tasks, cleaning, split), so that
    another definition is another run.
    """

    dataset: str
    direction: str
    tasks: tuple[str, ...]
    max_pieces: int
    subwords: Subwords
    definition: dict[str, Any] = field(repr=False)

    @property
    def corpus_folder(self) -> str:
        """The name of the corpus's folder: the data set and the hash of its definition."""
        return f"{self.dataset}-{short(identity(self.definition))}"

    @property
    def folder(self) -> str:
        """The name of the folders of subwords and tensors: the data set and the hash of it all."""
        return f"{self.dataset}-{short(identity(asdict(self)))}"


@dataclass(frozen=True)
class Model:
    """The network's shape; layers, width and heads are counts, dropouts are probabilities.

    `residuals` names the sides whose sub-layers add their input to their output; without
    `learned_positions`, positions are sinusoids.
    """

    architecture: str
    encoder_layers: int
    decoder_layers: int
    width: int
    ffn: int
    heads: int
    norm: str
    residuals: tuple[str, ...]
    activation: str
    dropout: float
    attention_dropout: float
    activation_dropout: float
    share_embeddings: str
    output_bias: bool
    learned_positions: int | None


@dataclass(frozen=True)
class Method:
    """A method by the name of its card, the stacks it acts on, and all of its settings."""

    name: str
    sides: tuple[str, ...]
    settings: dict[str, Any]


@dataclass(frozen=True)
class Batches:
    """The order of data; `tokens` are target tokens for each task or in all (`tokens_are`)."""

    tokens: int
    tokens_are: str
    shares: str
    scheme: str
    pool_updates: int


@dataclass(frozen=True)
class Schedule:
    """The learning rate's course: a function of training/schedules.py and its keywords."""

    name: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class Masking:
    """How many pieces of a masked language model are hidden, and how its languages are mixed.

    Attributes:
        chosen: share of the pieces that are predicted.
        masked: share of the chosen that become the mask symbol.
        random: share of the chosen that become a random piece; the others stay.
        language_exponent: a language's share of an update is its lines to this power.
    """

    chosen: float
    masked: float
    random: float
    language_exponent: float


@dataclass(frozen=True)
class Start:
    """The finished run, of the same seed, whose weights a run starts from.

    Its last `average_of` kept weights are averaged; with `freeze` they stay as they are, and only
    what the method adds is trained.
    """

    run: str
    identity: str
    average_of: int
    freeze: bool

    @property
    def folder(self) -> str:
        """The name of that run's folder."""
        return f"{self.run}-{short(self.identity)}"


@dataclass(frozen=True)
class Training:
    """The optimisation of one run; counts are updates of Θ."""

    updates: int
    batches: Batches
    label_smoothing: float
    schedule: Schedule
    adam_betas: tuple[float, float]
    adam_eps: float
    weight_decay: float
    clip: float
    precision: str
    validate_every: int
    keep_weights: int
    masking: Masking | None
    start: Start | None


@dataclass(frozen=True)
class Outcome:
    """When a run counts as diverged or as failed to train (nats a token; updates)."""

    exploded_above: float
    exploded_for: int
    failed_margin: float


@dataclass(frozen=True)
class Decoding:
    """Beam search; a sentence's cap is `cap_ratio` × source pieces + `cap_constant` pieces.

    The weights are the mean of the last `average_of` that the training kept; 1 takes the last.
    """

    average_of: int
    beam: int
    length_penalty: float
    cap_ratio: float
    cap_constant: int


@dataclass(frozen=True)
class Scoring:
    """Which metric is compared with the paper's, and the resamples of its interval."""

    compared_metric: str
    bootstrap_samples: int


@dataclass(frozen=True)
class Evaluation:
    """What happens after training: outside the run's identity, since it can be done again."""

    decoding: Decoding
    scoring: Scoring
    compared_gates: str


@dataclass(frozen=True)
class Spec:
    """A training, whole. `run` is its name; its identity leaves out name, seed and evaluation."""

    run: str
    scale: str
    data: Data
    model: Model
    method: Method
    training: Training
    outcome: Outcome
    evaluation: Evaluation

    @property
    def identity(self) -> str:
        """The SHA-256 of what determines the training, 64 hexadecimal digits."""
        parts = ("data", "model", "method", "training", "outcome")
        return identity({part: asdict(getattr(self, part)) for part in parts})

    @property
    def folder(self) -> str:
        """The name of the run's folder: its name and the first eight digits of its identity."""
        return f"{self.run}-{short(self.identity)}"
