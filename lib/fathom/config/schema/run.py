"""The one description of a run's settings: type, bounds, unit, default and meaning of each.

A new setting is one line here. Once runs are trained, it also needs an `UnhashedValue`: what the
code did before the setting existed. Settings of methods are in the methods' cards.
"""

from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Le
from pydantic import AfterValidator, Field, model_validator

from fathom.config.schema.section import (
    MOST,
    AsTuple,
    BelowOne,
    Count,
    Doc,
    ListOf,
    Name,
    NotNegative,
    Pattern,
    Positive,
    Section,
    Seeds,
    Share,
    Stacks,
    Text,
    UnhashedValue,
    Whole,
    fields_of,
    unique,
)

# Where defaults are from.
FAIRSEQ, VASWANI, DEVLIN = "fairseq's default", "Vaswani et al. 2017", "Devlin et al. 2019"
CHEN = "Chen et al. 2018"


class Subwords(Section):
    """How text becomes pieces: one SentencePiece model for each text that is named."""

    algorithm: Literal["bpe", "unigram", "published"] = Doc(
        "SentencePiece's algorithm; published: the pieces that the data set comes with."
    )
    joint: Count | None = Doc("Pieces of one model for all text.", None)
    english: Count | None = Doc("Pieces of a model for the pivot language.", None)
    foreign: Count | None = Doc("Pieces of one model for all languages but the pivot.", None)
    per_task: Count | None = Doc("Pieces of each task's own model.", None)
    sentences: Annotated[Count | None, UnhashedValue(None)] = Doc(
        "Training sentences that a model learns from at most, evenly drawn; null: all.", None
    )
    dictionary: Literal["joint"] | None = Doc("Published pieces: one dictionary for both.", None)
    threshold: Count | None = Doc("Published pieces: occurrences that one needs; null: 1.", None)

    @model_validator(mode="after")
    def _one_model_for_each_text(self) -> "Subwords":
        names = ("joint", "english", "foreign", "per_task")
        texts = [name for name in names if getattr(self, name)]
        possible = (["joint"], ["english", "foreign"], ["english", "per_task"])
        if texts not in ([[]] if self.algorithm == "published" else possible):
            raise ValueError(
                f"no text for each side: {', '.join(texts) or 'none'}; "
                "write joint alone, or english with foreign or per_task"
            )
        return self


class DataSettings(Section):
    """Which text, in which direction, in which pieces."""

    dataset: Text = Doc("A data set of config/datasets; a scale may substitute it.")
    direction: Literal["many_to_one", "one_to_many"] | None = Doc(
        "Into the pivot language, or out of it; bilingual and monolingual sets have none.", None
    )
    target_token: Literal["none", "source", "decoder"] = Doc(
        "Where the target language is named: before the source, or first in the decoder.", "none"
    )
    max_pieces: Count = Doc(
        "Training pairs with a longer side are left out and counted (pieces).", 1024, source=FAIRSEQ
    )
    pieces_of: str | None = Doc("Another data set, whose pieces and dictionaries are used.", None)
    subwords: Subwords


class Model(Section):
    """The network's shape; layers, widths and heads are counts, dropouts are probabilities."""

    architecture: Literal["transformer", "rnmt_plus", "masked_lm"] = Doc(
        "The kind of network, by its folder in nn/."
    )
    encoder_layers: Count = Doc("Layers of the encoder.", unit="layers")
    decoder_layers: Whole = Doc("Layers of the decoder.", unit="layers")
    width: Count = Doc("Width of embeddings and hidden states.", unit="width")
    ffn: Count | None = Doc(
        "Width inside the feed-forward sub-layer; null where there is none.", None, unit="width"
    )
    embedding: Count | None = Doc("Width of RNMT+'s embeddings; null: `width`.", None, unit="width")
    heads: Count = Doc("Attention heads.")
    norm: Literal["pre", "post", "lingvo", "none"] = Doc(
        "Layer norm before a sub-layer, after its residual, nowhere, or as lingvo has it: "
        "before, and in attention also on the skip path."
    )
    residuals: Stacks = Doc(
        "The stacks whose sub-layers add their input to their output.",
        ("encoder", "decoder"),
        source=VASWANI,
    )
    activation: Literal["relu", "gelu"] = Doc(
        "Activation of the feed-forward sub-layer.", "relu", source=VASWANI
    )
    dropout: BelowOne = Doc("Dropout on embeddings and on each sub-layer's output.")
    attention_dropout: BelowOne = Doc("Dropout of attention weights.", 0.0, source=FAIRSEQ)
    activation_dropout: BelowOne = Doc("Dropout after the activation.", 0.0, source=FAIRSEQ)
    tie_embeddings: Literal["none", "decoder", "all"] = Doc(
        "Which tables are one: none, the decoder's input and output, or the encoder's too, "
        "which needs one dictionary.",
        "none",
    )
    output_bias: bool = Doc("Whether the logits have a bias.", False, source=FAIRSEQ)
    # A piece between two symbols is the least.
    block: Annotated[int, Ge(3), Le(MOST)] | None = Doc(
        "Tokens of a masked language model's block, with learned positions; null: sinusoids.", None
    )
    initial_deviation: Annotated[Positive, UnhashedValue(0.02)] = Doc(
        "Standard deviation of a masked language model's first weights; smaller widths need a "
        "larger one, 0.02 · √(768 / width).",
        0.02,
        source=DEVLIN,
        no_choice=True,  # A translation model has none.
    )

    @property
    def depth(self) -> str:
        """The layers of encoder and decoder as in `12/24`; `24` of an encoder alone."""
        return "/".join(str(each) for each in (self.encoder_layers, self.decoder_layers) if each)


class BatchSettings(Section):
    """The size and order of an update's data."""

    tokens: Count = Doc("Target tokens of an update.")
    per: Literal["task", "update"] = Doc("Whether `tokens` are for each task or in all.")
    pool: Count = Doc(
        "Updates whose sentences are sorted by length together; 1 sorts none.",
        8,
        source="ours, as fast as larger pools",
    )


class Schedule(Section):
    """The course of the learning rate, a function of config/schedules.py and its keywords."""

    name: str

    @property
    def settings(self) -> dict[str, Any]:
        """The keywords of the function."""
        return {key: getattr(self, key) for key in type(self).model_fields if key != "name"}


LearningRate = Annotated[Positive, Doc("The peak learning rate.")]
Warmup = Annotated[Whole, Doc("Updates until the peak.", unit="updates")]


class InverseSqrt(Schedule):
    """Linear warm-up, then the inverse square root of the update."""

    name: Literal["inverse_sqrt"]
    learning_rate: LearningRate
    warmup: Warmup
    start: Annotated[NotNegative, UnhashedValue(0.0)] = Doc(
        "The rate from which the warm-up rises.", 0.0, source=FAIRSEQ
    )
    lowest: Annotated[NotNegative, UnhashedValue(0.0)] = Doc(
        "After the warm-up, the rate does not fall below this.", 0.0
    )


class Noam(Schedule):
    """The Transformer's course, scale · width^−½ · min(step^−½, step · warmup^−3/2)."""

    name: Literal["noam"]
    scale: Positive = Doc("Factor of the course.")
    warmup: Warmup
    step_duration: Count = Doc("Updates in a step of the course.", 1, source=VASWANI)


class Polynomial(Schedule):
    """Linear warm-up, then a polynomial fall."""

    name: Literal["polynomial"]
    learning_rate: LearningRate
    warmup: Warmup
    end: Count | None = Doc("Updates until the last rate; null: the run's.", None, unit="updates")
    power: Positive = Doc("Exponent of the fall; 1: a line.", 1.0, source=FAIRSEQ)
    final: NotNegative = Doc("The last rate.", 0.0, source=FAIRSEQ)


class ReplicaRamp(Schedule):
    """RNMT+'s course: a ramp to `replicas` times the rate, then an exponential fall."""

    name: Literal["replica_ramp"]
    learning_rate: Positive = Doc("The learning rate of a single replica.")
    replicas: Count = Doc("Devices that share an update.")
    warmup: Whole = Doc(
        "Updates per replica until the ramp ends.", 500, unit="updates", source=CHEN
    )
    decay_start: Whole = Doc(
        "Updates of all replicas until the fall begins.", 600_000, unit="updates", source=CHEN
    )
    decay_end: Count = Doc(
        "Updates of all replicas until the fall ends.", 1_200_000, unit="updates", source=CHEN
    )


class Temperature(Section):
    """Shares of tasks by a power of their sizes."""

    temperature: Positive = Doc("A task's share is its training lines to this power.")


class Adam(Section):
    """Adam's constants."""

    betas: Annotated[tuple[BelowOne, BelowOne], AsTuple] = Doc("Decay rates of the two moments.")
    eps: Positive = Doc("Added to the root of the second moment.")


class Masking(Section):
    """How a masked language model hides pieces; only such a network is trained so."""

    chosen: Share = Doc("Share of pieces that are predicted.", 0.15, source=DEVLIN)
    masked: Share = Doc("Share of these that become the mask.", 0.8, source=DEVLIN)
    random: Share = Doc(
        "Share of the chosen that become a random piece; the others stay.", 0.1, source=DEVLIN
    )

    @model_validator(mode="after")
    def _shares(self) -> "Masking":
        if self.masked + self.random > 1:
            raise ValueError("masked and random are more than 1 together; make one smaller")
        return self


# `1 epoch` or `75 epochs`: passes over the text of the largest task.
Epochs = Annotated[str, Pattern(r"^(1 epoch|[1-9][0-9]{0,5} epochs)$", "75 epochs")]


def length(given: int | str) -> int:
    """Return the number of a length in updates or epochs."""
    return int(str(given).split()[0])


TasksPerUpdate = Count | Literal["all"]


class TrainingSettings(Section):
    """The optimisation of one run; counts are updates of Θ."""

    updates: Count | Epochs = Doc("Updates of Θ until the end, or `75 epochs`.", unit="updates")
    batch: BatchSettings
    shares: Literal["equal", "proportional"] | Temperature = Doc(
        "Each task's share of an update; proportional is to its training lines.",
        "proportional",
        source="the size of the text",
    )
    tasks_per_update: Annotated[TasksPerUpdate, UnhashedValue(was="one_task_per_batch")] = Doc(
        "Equal parts of an update, each of one task that is drawn by its share; all: every update "
        "holds every task.",
        "all",
    )
    label_smoothing: BelowOne = Doc("Mass spread over the vocabulary.", 0.0)
    schedule: Annotated[
        InverseSqrt | Noam | Polynomial | ReplicaRamp, Field(discriminator="name")
    ] = Doc("The course of the learning rate, a function of config/schedules.py.")
    adam: Adam
    weight_decay: NotNegative = Doc("Decoupled weight decay of Θ.", 0.0)
    clip: NotNegative = Doc("Θ's gradients are scaled down to this norm; 0 leaves them.", 0.0)
    rate_factor: Annotated[Positive, UnhashedValue(1.0)] = Doc(
        "What the rate of any schedule is multiplied by: 2 is twice the rate.",
        1.0,
        source="ours",
        no_choice=True,
    )
    precision: Literal["fp32", "bf16", "fp16"] = Doc(
        "Arithmetic of the network; gates, losses and optimisers stay in float32. "
        "fp16 has fairseq's dynamic loss scale, and needs CUDA.",
        "fp32",
        source="half precision makes divergences of its own",
    )
    # What differs is on CUDA alone and in training.json, as with the switch, which is not hashed.
    matmul: Annotated[Literal["exact"] | None, Field(exclude=True)] = Doc(
        "exact: products in float32 on CUDA, whatever the switch `matmul`; null: as it says.",
        None,
        no_choice=True,
    )
    validate_every: Count | Epochs = Doc(
        "Updates, or `1 epoch`, between validations and saves.",
        500,
        unit="updates",
        source="ours",
        no_choice=True,
    )
    save_every: Count | Epochs | None = Doc(
        "Updates or `1 epoch` between saved weights; null: at validations.", None, unit="updates"
    )
    keep_weights: Whole = Doc(
        "Of the last saved weights how many are kept, to average them.", 0, no_choice=True
    )

    def identity(self) -> dict[str, Any]:
        """Return what is hashed; 1 and `all` as the truth of before there were other numbers."""
        hashed = super().identity()
        number = self.tasks_per_update
        return hashed | {"one_task_per_batch": {1: True, "all": False}.get(number, number)}


class Start(Section):
    """The finished run whose decoded weights a run starts from."""

    run: Text = Doc("The run; it must not start from another itself.")
    freeze: bool = Doc("Whether only what the method adds is trained.", False)


class Outcome(Section):
    """When a run counts as diverged or as failed to train."""

    exploded_above: Positive = Doc(
        "Training NLL (nats per token) above which a run counts as exploding.",
        20.0,
        source="ours: above every vocabulary's uniform NLL",
    )
    exploded_for: Count = Doc("Updates in a row above it that end the run.", 20, source="ours")
    failed_margin: float = Doc(
        "How far the final validation NLL must be below the unigram's (nats per token).",
        0.0,
        source="ours",
    )


class Decoding(Section):
    """Beam search; a sentence's cap is cap_ratio × its source pieces + cap_constant pieces."""

    average_of: Count = Doc(
        "Number of the last saved weights whose mean is decoded.", 1, source="the last checkpoint"
    )
    window: Count | None = Doc("Saved weights of the best window on validation text.", None)
    beam: Count = Doc("Hypotheses kept at each position.")
    length_penalty: float = Doc(
        "Exponent α of the length penalty, by which a score is divided.", 1.0, source=FAIRSEQ
    )
    length_penalty_form: Annotated[Literal["power", "gnmt"], UnhashedValue("power")] = Doc(
        "power: length^α; gnmt: ((5 + length) / 6)^α, of Wu et al. 2016.",
        "power",
        source=FAIRSEQ,
    )
    cap_ratio: NotNegative = Doc("Pieces of the cap for each source piece.", 0.0, source=FAIRSEQ)
    cap_constant: Count = Doc("The cap's constant part (pieces).", 200, source=FAIRSEQ)
    hard_at_least: Whole = Doc(
        "Layers that hard gates keep at least, the likeliest first.",
        0,
        source="the papers keep what the probability says",
        no_choice=True,
    )

    def cap(self, source_pieces: int) -> int:
        """Return the most pieces of a hypothesis; neither count has the end symbol."""
        return int(self.cap_ratio * source_pieces) + self.cap_constant


Tokenizer = Literal["moses", "13a_pieces", "zh", "ko-mecab"]


class Scoring(Section):
    """How hypotheses are scored."""

    bootstrap_samples: Annotated[int, Ge(100)] = Doc(
        "Resamples of the test set for a score's interval.", 1000, source="Koehn 2004"
    )
    tokenizers: Annotated[ListOf[Tokenizer], AfterValidator(unique), UnhashedValue(())] = Doc(
        "BLEU that is counted next to that of every run, as metric.tokenize names it.", ()
    )


class MethodSettings(Section):
    """The method by name, and the stacks on which it acts; a card's class adds its settings."""

    name: str = Doc("A method, by the name of its card.")
    stacks: Stacks = Doc("The stacks on which it acts; by default all that its card allows.", ())

    recipe: ClassVar[int] = 1  # of the card

    def identity(self) -> dict[str, Any]:
        """Return what is hashed: the settings, and a recipe that was raised."""
        return super().identity() | ({"recipe": self.recipe} if self.recipe > 1 else {})

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the card, as the keyword arguments of the method's class."""
        names = [name for name in fields_of(type(self)) if name not in fields_of(MethodSettings)]
        return {name: getattr(self, name) for name in names}


class RunSettings(Section):
    """A run of runs.yaml with everything that it inherits; `group` and `seeds` change no result."""

    group: Name | None = Doc("Runs that are compared; a scale gives each its updates.", None)
    seeds: Seeds = Doc("Seeds: 5 is 1 to 5, or a list of them.", 1)
    data: DataSettings
    model: Model
    method: MethodSettings
    masking: Masking | None = Doc("Of masked language models alone.", None)
    training: TrainingSettings
    start: Start | None = None
    outcome: Outcome = Outcome()
    decoding: Decoding | None = Doc("Beam search; masked language models have none.", None)
    scoring: Scoring = Scoring()
