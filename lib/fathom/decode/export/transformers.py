"""A training in Hugging Face's transformers (https://huggingface.co/docs/transformers), optional.

The model is M2M100ForConditionalGeneration: fairseq's Transformer with the norm before each
sub-layer. Each side has a tokenizer with the pieces of its SentencePiece model, in the order of the
dictionary. All are loaded from the folder and compared with ours: log-probabilities of real
targets, pieces of validation sources and text of validation targets.
"""

from collections.abc import Mapping, Sequence
from operator import ne
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from fathom.config.rules import NOT_PLAIN
from fathom.data.sides import Side, sides
from fathom.data.subwords import NORMALISATION, WORD_START, Encoder, Report, listed_pieces
from fathom.data.tensors import EOS, PAD
from fathom.data.vocabulary import BOS, UNKNOWN
from fathom.decode.export.comparison import require_package
from fathom.decode.export.plain import DROPOUTS, Plain
from fathom.decode.ready import require_decoder
from fathom.decode.trained_run import TrainedRun
from fathom.decode.translate import texts
from fathom.io.errors import FathomError

# The logit of entries that only the source's dictionary has, and the least |Σ(β/γ)| to get it by.
UNLIKELY, LEAST = -50.0, 1e-3
# The folder of the target's tokenizer; that of the source is in the folder of the model.
TARGET = "target"
# The most validation sentences whose pieces or text may differ, as a share: tokenizers composes a
# few rare sequences of characters otherwise than SentencePiece.
DIFFERENT = 0.01
OTHER_FORMAT = "choose --format fairseq"


class TransformersModel:
    """A model of transformers, and the tokenizers of both sides."""

    name, remedy = "transformers", NOT_PLAIN

    def __init__(self, folder: Path):
        """Load what `export` wrote."""
        from transformers import M2M100ForConditionalGeneration, PreTrainedTokenizerFast

        self.model = M2M100ForConditionalGeneration.from_pretrained(folder)
        self.source = PreTrainedTokenizerFast.from_pretrained(folder)
        self.target = PreTrainedTokenizerFast.from_pretrained(folder / TARGET)

    @torch.no_grad()
    def log_probabilities(self, source: Tensor, target: Tensor, start: int = EOS) -> Tensor:
        """Return the log-probability of each piece of a target, (T,), as `Program` says."""
        previous = target.roll(1)
        previous[0] = start
        logits = self.model(input_ids=source[None], decoder_input_ids=previous[None]).logits[0]
        return logits.log_softmax(dim=1).gather(1, target[:, None]).squeeze(1)

    def require_equal_text(self, run: TrainedRun, task: str, report: Report) -> None:
        """Compare the pieces of all validation sources, and the text of all targets.

        More different sentences than the share DIFFERENT are refused.
        """
        pairs, source = run.tensors.split(task, "valid"), sides(run.spec.data)[0]
        lines = source.sentences(run.paths.corpus(run.spec.data), task, "valid")
        numbers = range(len(pairs))
        targets = [pairs.target(number)[:-1].tolist() for number in numbers]
        ours = [*(pairs.source(number).tolist() for number in numbers), *texts(run, targets)]
        theirs = self.source(lines, truncation=True).input_ids
        theirs += self.target.batch_decode(targets, skip_special_tokens=True)
        if different := sum(map(ne, ours, theirs)):
            count, where = f"{different} of {len(ours)}", f"{run.name}, {task}"
            what = f"pieces or text of {count} validation sentences differ in {self.name}"
            if different > DIFFERENT * len(ours):
                raise FathomError(what, where, self.remedy)
            report(f"{where}: {what}")


def export(
    folder: Path, run: TrainedRun, plain: Plain, tasks: Sequence[str], report: Report
) -> TransformersModel:
    """Write the model and the tokenizers of a plain Transformer to an empty folder; load them."""
    require_package("transformers", "transformers").utils.logging.disable_progress_bar()
    text, both = run.tensors, sides(run.spec.data)
    if plain.model.norm != "pre":
        what = f"transformers has no such network with the norm {plain.model.norm}"
        raise FathomError(what, run.name, OTHER_FORMAT)
    for side in both:
        if (models := len({*side.models.values()})) != 1:
            what = f"the {side.name} has {models} SentencePiece models, and a tokenizer has one"
            raise FathomError(what, run.name, OTHER_FORMAT)
    tokens = {(text.before[number], text.starts[number]) for number in map(run.task, tasks)}
    if len(tokens) > 1:
        what = "the tasks have different tokens of target languages"
        raise FathomError(what, run.name, f"choose one: --task {tasks[0]}")
    ((before, start),) = tokens
    _write_model(folder, run, plain, start)
    _write_tokenizer(folder, run, both[0], before)
    _write_tokenizer(folder / TARGET, run, both[1], ())
    made = TransformersModel(folder)
    for task in tasks:
        made.require_equal_text(run, task, report)
    return made


def _write_model(folder: Path, run: TrainedRun, plain: Plain, start: int) -> None:
    from transformers import GenerationConfig, M2M100Config, M2M100ForConditionalGeneration

    model, text, search = plain.model, run.tensors, require_decoder(run.spec)
    longest = run.longest_source, search.cap(run.longest_source)
    entries = max(len(text.source_dictionary), len(text.target_dictionary))
    shape: dict[str, Any] = {"vocab_size": entries, "d_model": model.width}
    for stack, layers in plain.active.items():
        shape |= {f"{stack}_layers": len(layers), f"{stack}_ffn_dim": model.ffn}
        shape |= {f"{stack}_attention_heads": model.heads, f"{stack}_layerdrop": 0.0}
    shape |= {name: getattr(model, name) for name in DROPOUTS}
    shape |= {"activation_function": model.activation, "scale_embedding": True}
    shape |= {"max_position_embeddings": max(longest) + 1, "tie_word_embeddings": False}
    symbols: dict[str, Any] = {"bos_token_id": BOS, "pad_token_id": PAD, "eos_token_id": EOS}
    symbols |= {"decoder_start_token_id": start}
    network = M2M100ForConditionalGeneration(M2M100Config(**shape, **symbols))
    network.load_state_dict(_weights(plain, entries, run.name))
    rules = {"num_beams": search.beam}
    if search.beam > 1:  # one hypothesis has no order, and transformers refuses its rules
        rules |= {"length_penalty": search.length_penalty, "early_stopping": True}
    # The search ends no empty hypothesis and writes no padding.
    rules |= {"min_new_tokens": 1, "suppress_tokens": [PAD]}
    rules |= {"max_new_tokens": longest[1] + 1}
    network.generation_config = GenerationConfig(**symbols, **rules)
    network.save_pretrained(folder)


def _weights(plain: Plain, entries: int, where: str) -> dict[str, Tensor]:
    """Return the weights under transformers' names, with tables of `entries` rows.

    A row of lm_head for an entry that the target's dictionary lacks is c/γ: the final norm gives
    γ x̂ + β with Σ x̂ = 0, so that its logit is c Σ(β/γ), which is UNLIKELY.
    """
    state = {f"model.{name}": value.cpu() for name, value in plain.state.items()}
    output = state.pop("model.decoder.output_projection.weight")
    for stack in plain.active:
        del state[f"model.{stack}.version"]
        name = f"model.{stack}.embed_tokens.weight"
        state[name] = pad(state[name], (0, 0, 0, entries - len(state[name])))
    state["model.shared.weight"] = state["model.encoder.embed_tokens.weight"]
    if surplus := entries - len(output):
        norm = "model.decoder.layer_norm"
        scale, shift = (state[f"{norm}.{name}"].double() for name in ("weight", "bias"))
        total = (shift / scale).sum()
        if not (LEAST <= total.abs() < torch.inf):
            what = "the target's dictionary is smaller, and its final norm has no constant logit"
            raise FathomError(what, where, "write data.subwords.joint, or choose --format fairseq")
        row = (UNLIKELY / total / scale).to(output)
        output = torch.cat([output, row.expand(surplus, -1)])
    return state | {"lm_head.weight": output}


def _write_tokenizer(folder: Path, run: TrainedRun, side: Side, before: Sequence[str]) -> None:
    """Write the tokenizer of a side, which puts the tokens `before` in front of each sentence."""
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    data, (name,), longest = run.spec.data, {*side.models.values()}, run.longest_source + 1
    processor = Encoder.of(run.paths.subwords(data), side).processor(name)
    text, listed = run.tensors, listed_pieces(processor)
    dictionary = text.source_dictionary if side.name == "source" else text.target_dictionary
    scores = {piece: processor.get_score(processor.piece_to_id(piece)) for piece in listed}
    pieces = {dictionary[number]: number for number in range(len(dictionary))}
    unknown, end = dictionary[UNKNOWN], dictionary[EOS]
    if data.subwords.algorithm == "unigram":
        model = models.Unigram([(piece, scores.get(piece, 0.0)) for piece in pieces], UNKNOWN)
    else:
        model = models.BPE(pieces, _merges(scores), unk_token=unknown, fuse_unk=True)
    tokenizer = Tokenizer(model)
    normal = normalizers.Precompiled(_charsmap(processor.serialized_model_proto()))
    spaces = normalizers.Strip(), normalizers.Replace(Regex(" +"), " ")
    # SentencePiece composes characters, and the package's use of its table does not.
    composed = normalizers.NFC(), normal, normalizers.NFC()
    tokenizer.normalizer = normalizers.Sequence([*composed, *spaces])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    joined = decoders.Replace(WORD_START, " "), decoders.Fuse()
    tokenizer.decoder = decoders.Sequence([*joined, decoders.Replace(Regex("^ +| +$"), "")])
    symbols = {"bos_token": dictionary[BOS], "pad_token": dictionary[PAD], "eos_token": end}
    tokenizer.add_special_tokens([*symbols.values(), *dict.fromkeys(text.tokens)])
    added = [(token, pieces[token]) for token in (*before, end)]
    tokenizer.post_processor = TemplateProcessing(single=[*before, "$A", end], special_tokens=added)
    settings = {"model_max_length": longest, "model_input_names": ["input_ids", "attention_mask"]}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **settings, **symbols)
    fast.save_pretrained(folder)


def _charsmap(proto: bytes) -> bytes:
    """Return the table of a SentencePiece model's normalisation, the field after its name."""
    rest = proto.partition(f"\n{chr(len(NORMALISATION))}{NORMALISATION}\x12".encode())[2]
    # The size of a field has 7 bits per byte, the lowest first; the last byte is below 128.
    digits = next(place for place, byte in enumerate(rest, start=1) if byte < 128)
    size = sum((byte & 127) << 7 * place for place, byte in enumerate(rest[:digits]))
    return rest[digits : digits + size]


def _merges(scores: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return the pairs of pieces that BPE joins, in SentencePiece's order."""
    return [
        (piece[:cut], piece[cut:])
        for piece in sorted(scores, key=scores.__getitem__, reverse=True)
        for cut in range(1, len(piece))
        if {piece[:cut], piece[cut:]} <= scores.keys()
    ]
