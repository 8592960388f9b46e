"""Each mistake in config/ is found, with its file, line and key, and the names that it is about.

The mistakes are edits of the project in tests/fixtures. Anchors, tags, impossible numbers and
names, and settings that do not go together have more cases in tests/contracts.
"""

import os
import re
import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest
import yaml

from fathom.artefacts import check
from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.needs import Needs
from fathom.config.load import load
from fathom.config.paths import Paths
from fathom.io.errors import FathomError, Findings

RUNS, TABLES = "papers/deep/runs.yaml", "papers/deep/tables.yaml"
PAPER, FIGURES = "papers/deep/paper.yaml", "papers/deep/figures.yaml"
CLAIMS, DEVIATIONS = "papers/deep/claims.yaml", "papers/deep/deviations.yaml"
PARAMETERS, OF_SCALES = "papers/deep/parameters.yaml", "papers/deep/scales.yaml"
CSV, CSV_OF_TABLE_2 = "papers/deep/reported/table1.csv", "papers/deep/reported/table2.csv"
WIDE = "papers/wide/paper.yaml"
SMALL, LONG = "scales/small.yaml", "scales/long.yaml"
WORDS, PAIR, LINES = "datasets/words.yaml", "datasets/pair.yaml", "datasets/lines.yaml"
DOMAINS, HALVES = "datasets/domains.yaml", "datasets/halves.yaml"
PLANNED = "datasets/planned.yaml"
SOURCE, TEXTS, PAGES = "sources/words.yaml", "sources/texts.yaml", "sources/pages.yaml"
CARD, COLUMNS, SWITCHES = "methods/latent_layers.yaml", "columns.yaml", "config.yaml"

# By file: what is wrong; a text and what replaces it; the place, which is the key of the finding,
# with its file where that is another one, or `:line`; words that the finding has; and `MORE` where
# there are others elsewhere: a run that nothing uses, a cell without a number.
MORE = True
MISTAKES = {
    RUNS: [
        ("a duplicate key", "      width: 512  # §3\n",
         "      width: 512  # §3\n      width: 256  # §3\n",
         ":10: families.base.model.width", "duplicate"),
        ("not a number", "clip: 1.0", "clip: .nan", "families.base.training.clip", ".nan"),
        ("an unknown section", "\nruns:", "\ndefaults: {}\nruns:",
         "defaults", "defaults families"),
        ("a wrong key of a family without runs", "runs:\n",
         "  unused: {like: base, model: {widht: 8}}  # §3\nruns:\n",
         "families.unused.model.widht", "widht width"),
        ("text for a count", "heads: 4", "heads: '8'", "families.base.model.heads", "8"),
        *((f"a number that YAML reads as another, {written}", "heads: 4", f"heads: {written}",
           "families.base.model.heads", f"{written} {read} digits")
          for written, read in (("010", "8"), ("0x10", "16"), ("1_0", "10"))),
        ("nan for a count", "heads: 4", "heads: nan", "families.base.model.heads", "nan whole"),
        ("null for a count", "heads: 4", "heads: null", "families.base.model.heads", "value"),
        ("a missing setting", "      heads: 4  # §3\n", "",
         "families.base.model.heads", "value", MORE),
        ("a missing choice", "      norm: pre  # §3\n", "",
         "families.base.model.norm", "value pre post", MORE),
        ("a schedule without its name", "{name: inverse_sqrt, ", "{",
         "families.base.training.schedule", "name inverse_sqrt", MORE),
        ("a choice that YAML reads as false", "norm: pre", "norm: no",
         "families.base.model.norm", "true or false"),
        ("too large", "dropout: 0.3", "dropout: 1.3", "families.base.model.dropout", "1.3"),
        ("a list of one", "[0.9, 0.98]", "[0.9]", "families.base.training.adam.betas", ""),
        ("a value in place of a mapping", "adam: {betas: [0.9, 0.98], eps: 1.0e-6}", "adam: 3",
         "families.base.training.adam", "3"),
        ("epochs of another form", "75 epochs", "75 epoch",
         "runs.epochs.training.updates", "75 epoch"),
        ("a setting of another schedule", "warmup: 175}", "warmup: 175, power: 2}",
         "families.base.training.schedule.power", "power"),
        ("a group with a capital", "group: main", "group: Main", "families.base.group", "Main"),
        ("like in a circle", "  base:\n", "  base:\n    like: pair\n",
         "families.base.like", "base > pair > base"),
        ("like a number", "pair_8: {like: pair", "pair_8: {like: 3", "runs.pair_8.like", "name"),
        ("an entry without a mapping", "gated: {like: [base, gates]}", "gated: 3",
         "runs.gated", "mapping"),
        ("for without a placeholder", "{b: [0, 2]}", "{c: [0, 2]}", "runs.beta_<b>", "<b> c"),
        ("a placeholder without for", "    for: {b: [0, 2]}\n", "", "runs.beta_<b>", "<b> for"),
        ("for without values", "for: {b: [0, 2]}", "for: []", "runs.beta_<b>.for", "values"),
        ("a family and a run of one name", "  fixed: {", "  gates: {like: gated}\n  fixed: {",
         "runs.gates", "gates"),
        ("a name with a capital", "  pair_8: {", "  Pair: {", "runs.Pair", "letter"),
        ("layers of another form", "layers: 8/12", "layers: 8", "families.base.layers", "8"),
        ("layers twice", "architecture: transformer",
         "encoder_layers: 3  # §3\n      architecture: transformer",
         "families.base.model.encoder_layers", "layers"),
        ("no method", "    method: static\n", "", "runs.static", "method", MORE),
        ("an unknown preset", "target_depth: 6}}", "preset: relased, target_depth: 6}}",
         "families.gates.method.preset", "relased released"),
        ("a stack twice", "stacks: [decoder], t", "stacks: [decoder, decoder], t",
         "families.gates.method.stacks", "2 times"),
        ("a block without room for a piece", "      norm: pre  # §3\n",
         "      norm: pre  # §3\n      block: 1  # §3\n", "families.base.model.block", "3 or more"),
        ("a temperature of 0", "shares: equal", "shares: {temperature: 0}",
         "families.base.training.shares.temperature", "more than 0"),
        ("a stack on which the method cannot act", "method: {name: adapters,",
         "method: {name: static, stacks: [encoder],",
         "runs.tuned.method.bottleneck", ""),
        ("no stack at all", "{name: adapters, bottleneck",
         "{name: adapters, stacks: [], bottleneck",
         "runs.tuned.method.stacks", "adapters"),
        ("a target depth on a stack without the method", "stacks: [decoder], target",
         "stacks: [encoder], target",
         "families.gates.method.target_depth_stacks", "target_depth stack", MORE),
        ("a target depth of more layers than there are", "target_depth: 6}}", "target_depth: 13}}",
         "families.gates.method.target_depth", "13.0 decoder 12"),
        ("a block of another network", "      norm: pre  # §3\n",
         "      norm: pre  # §3\n      block: 9  # §3\n",
         "families.base.model.block", "transformer"),
        ("a feed-forward layer without a width", "      ffn: 1024  # §3\n", "",
         "families.base.model.ffn", "value", MORE),
        ("pieces without a text", "foreign: 120, english: 80}", "english: 80}",
         "families.base.data.subwords", "english"),
        ("a token where there is one target language", "max_pieces: 64,",
         "max_pieces: 64, target_token: decoder,",
         "families.base.data.target_token", "one-to-many"),
        ("no direction", "words, direction: many_to_one,", "words, direction: null,",
         "families.base.data.direction", "words"),
        ("a direction of one language pair", "{dataset: pair, direction: null}", "{dataset: pair}",
         "families.base.data.direction", "pair"),
        ("a masked language model without masking",
         "masking: {chosen: 0.15, masked: 0.8, random: 0.1}", "masking: null",
         "runs.masked.masking", "masking"),
        ("shares of masking above one", "random: 0.1}", "random: 0.3}",
         "runs.masked.masking", "masked random"),
        ("sentences longer than a block", "block: 70", "block: 60",
         "families.base.data.max_pieces", "64 block 58"),
        ("a masked language model without blocks", "block: 70", "block: null",
         "runs.masked.model.block", "block"),
        ("a beam search of a masked language model", "    decoding: null\n", "",
         "families.base.decoding", "decoding"),
        ("a norm with which a method does not work", "gates: {method",
         "gates: {model: {norm: lingvo}, method",
         "families.gates.model.norm", "latent_layers lingvo pre"),
        ("a method for a stack that the network does not have", "    group: masked\n",
         "    group: masked\n    method: {name: adapters, stacks: [decoder]}  # §7\n",
         "runs.masked.method.stacks", "decoder"),
        ("pieces of a pivot where there is none", "{joint: 200, foreign: null, english: null}",
         "{sentences: 9}",
         "families.base.data.subwords.english", "pivot joint"),
        ("another program as the decoder", "gated: {like: [base, gates]}",
         "gated: {like: [base, gates], decoding: {decoder: ctranslate2}}  # §5",
         "runs.gated.decoding.decoder", "more delete export ctranslate2"),
        ("a run without a group", "    group: masked\n", "    group: null\n",
         "runs.masked", "group", MORE),
        ("a start with other tokens of target languages", "    group: tuned\n",
         "    group: tuned\n    data: {direction: one_to_many, target_token: decoder}  # §6\n",
         "runs.halves.start.run", "tokens data.target_token", MORE),
        ("fewer saves than are averaged", "training: {updates: 500}  # §6",
         "training: {updates: 500, save_every: 250}  # §6",
         "families.base.decoding.average_of", "500 3 33"),
        ("no decoding", "training: {updates: 75 epochs}}  # §4",
         "training: {updates: 75 epochs}, decoding: null}  # §4",
         "runs.epochs.decoding", "decoding"),
        ("a start from a run that starts from another", "start: {run: domains}",
         "start: {run: tuned}",
         "runs.halves.start.run", "tuned"),
        ("a start with other pieces", ", pieces_of: domains}", "}",
         "runs.halves.start.run", "domains"),
        ("a start with another network", "training: {updates: 500}  # §6",
         "model: {ffn: 512}  # §6\n    training: {updates: 500}  # §6",
         "runs.tuned.start.run", "static ffn", MORE),
        ("equal settings under two names", "  fixed: {", "  again: {like: base}\n  fixed: {",
         "runs.again", "deep/again deep/static"),
        ("a run that nothing uses", "  fixed: {",
         "  unused: {like: base, layers: 3/3}  # §3\n  fixed: {",
         "runs.unused", "uses"),
        ("a score that nothing counts", "pair_8: {like: pair, scoring: {tokenizers: [moses]}}",
         "pair_8: {like: pair}",
         "runs.pair_8.scoring.tokenizers", "moses"),
        ("runs that become equal at a scale", "  fixed: {",
         "  again: {like: pair, layers: 7/12}  # §3\n  fixed: {",
         "runs.pair_8", "deep/again deep/pair_8 long", MORE),
    ],
    TABLES: [
        ("broken YAML", "columns: [avg,", "columns: [[avg,", ":5", "YAML"),
        ("no rows", "  rows: {8: masked}", "  rows: {}", "table7", "rows"),
        ("no columns", "columns: [deu]", "columns: []", "table3.blocks.Test", "columns", MORE),
        ("rows without runs", "  corpus: words\n", "", "table4.rows", "corpus"),
        ("a row that names nothing", "    Gated: gated\n", "    Gated:\n",
         "table1.rows.Gated", "value"),
        ("a row without a run", "    Gated: gated\n", "    Gated: {value: bleu}\n",
         "table1.rows.Gated", "Gated", MORE),
        ("an unknown placeholder", "loss: {run: <kind>", "loss: {run: <knid>",
         "table2.rows.loss", "<knid> kind"),
        ("a difference in an unknown column", "tasks, nll_valid]",
         "tasks, nll_valid]\n  less: {nll_vaild: Gated}", "table1.less.nll_vaild",
         "nll_vaild nll_valid"),
        ("a difference to an unknown row", "tasks, nll_valid]",
         "tasks, nll_valid]\n  less: {nll_valid: Gaetd}", "table1.less.nll_valid", "Gaetd Gated"),
        ("a value in row and column", "columns: [0, 2, fixed]",
         "columns: {0: bleu, 2: bleu, fixed: bleu}",
         "table2.rows.loss", "loss 0", MORE),
        ("a qualifier that is missing", "value: depth.decoder", "value: depth",
         "table2.rows.depth.value", "depth.encoder"),
        ("a value of another form", "value: bleu.valid, metric", "value: mean(bleu.*), metric",
         "table3.blocks.Valid.value", "mean(bleu.*)"),
        ("a value of text for a run", "value: bleu.valid, metric", "value: pairs.valid, metric",
         "table3.rows.8", "pairs", MORE),
        ("a value of a run for text", "valid: pairs.valid", "valid: bleu.valid",
         "table4.rows.0", "bleu"),
        ("a row that is not a task", "  rows: [tasks]", "  rows: [tasks, boss]",
         "table4.rows.1", "boss bos", MORE),
        ("a reason why rows train unequally long", "  caption: The adapters",
         "  unequal: the adapters", "table1.unequal", "caption"),
        ("a row that is first", "table1:\n", "table1:\n  first: {row: Static, avg: [20, 21]}\n",
         "table1.first", "caption"),
        ("a column of the largest", "table1:\n", "table1:\n  largest: most\n",
         "table1.largest", "columns"),
        ("blocks beside each other", "table3:\n", "table3:\n  beside: true\n",
         "table3.beside", "below"),
        ("two names of rows", "table4:\n", "table4:\n  names: [Code, Language]\n",
         "table4.names", "labels", MORE),
        ("a mark of nothing that is printed", "    bold: {means: gain, to: Static}\n", "",
         f"{CSV}:12", "bold"),
    ],
    PAPER: [
        ("a link that is a script", "url: https://example.org/deep", 'url: "javascript:alert(1)"',
         "url", "javascript"),
        ("a title of 100,000 letters", "A Deep Sample", "A" * 100_000, "title", "100,000 10,000"),
        ("a character that YAML forbids", "Samples", "\x01", ":4", "control"),
        ("text where YAML reads a number", 'year: "2020"', "year: 2020", "citation.year", "2020"),
        ("a tokenizer that is downloaded when it scores", "tokenize: 13a", "tokenize: flores200",
         "metric.tokenize", "flores200 moses"),
        ("a mark without a source", "to: Static}  # Table 1", "to: Static}",
         "marks.bold.means", "source", MORE),
        ("an equation of another form", "  Eq. 2:", "  Eq 2:", "equations.Eq 2", "Eq 2"),
        ("a meaning of a mark that is a word", "bold: {means: gain, to: Static}", "bold: best",
         "marks.bold", "best"),
    ],
    PARAMETERS: [
        ("a count of a run without sizes", "like: base", "like: gates",
         "vocabularies", "deep/domains", MORE),
    ],
    FIGURES: [
        ("an empty file", None, "", ":1", "mapping"),
    ],
    WORDS: [
        ("a key that YAML reads as false", "  bos: {train", "  no: {train",
         "expected.no", "true or false"),
        ("a key that YAML reads as null", "  bos: {train", "  ~: {train", "expected.~", "null"),
        ("no format", "format: packages\n", "", "format", "packages"),
        ("a card that names itself", "pivot: eng", "name: words\npivot: eng", "name", "name"),
        ("a pivot that is a task", "pivot: eng", "pivot: fra", "tasks", "fra"),
        ("a task twice", "tasks: [bos, fra, kor]", "tasks: [bos, fra, kor, bos]", "tasks", "bos"),
        ("a task without a source", ", kor: [ko]}", "}", "sources", "kor"),
        ("a source without codes", "kor: [ko]}", "kor: []}", "sources.words.kor", "[]"),
        ("a task without counts", "  kor: {train: 100, valid: 10, test: 10}\n", "",
         "expected", "kor"),
        ("a language of an unknown task", "pivot: eng", "pivot: eng\nlanguages: {boss: bos}",
         "languages.boss", "boss bos"),
        ("a rule of cleaning of another format", "max_ratio: 4.0,",
         "max_ratio: 4.0, missing_marks: [x],",
         "cleaning.missing_marks", "missing_marks"),
        ("an impossible split", "by: key_hash", "by: published", "split.by", "published"),
        ("a split that leaves nothing to train on", "test_per_mille: 150", "test_per_mille: 960",
         "split", "1000"),
        ("a pair of languages that the tasks do not translate", "pivot: eng",
         "pivot: eng\ntranslates: [eng, fra]",
         "translates", "bos"),
    ],
    SMALL: [
        ("a ratio of zero", "width: 1/8", "width: 1/0", "times", "1/0"),
        ("a rule without settings", "    set: {model.dropout: 0.0}\n", "", "rules.4.set", "value"),
        ("a rule for an unknown setting", "set: {model.dropout: 0.1}", "set: {model.drpout: 0.1}",
         "rules.0.set.model.drpout", "'model.drpout' 'model.dropout'"),
        ("a rule for an unknown setting of a method", "method.target_depth: 2",
         "method.target_dept: 2",
         "rules.2.set.method.target_dept", "'method.target_dept' 'method.target_depth'"),
        ("a rule for a setting that is gone", "set: {model.dropout: 0.1}",
         "set: {decoding.decoder: ctranslate2}",
         "rules.0.set.decoding.decoder", "decoding.decoder delete export"),
        ("a rule for an impossible value", "set: {model.dropout: 0.1}",
         "set: {model.dropout: 1.1}",
         "rules.0.set.model.dropout", "1.1"),
        ("a rule when there is no such setting", "when: {data.dataset: words, tr",
         "when: {data.datset: words, tr",
         "rules.1.when.data.datset", "'data.datset' 'data.dataset'"),
        ("a rule when there is no such value", "per: [task]", "per: [task, updat]",
         "rules.1.when.training.batch.per", "updat"),
        ("a rule for a run without its paper", "run: deep/static, data", "run: sttaic, data",
         "rules.4.when.run", "'sttaic' 'deep/static'"),
        ("a rule that fits no run", "run: deep/static, data.dataset: words",
         "run: deep/static, method.name: latent_layers",
         "rules.4.when", "run"),
        ("seeds that are empty", "seeds: 1", "seeds: []", "seeds", ""),
        ("an unknown run of new studies", "seeds: 1", "seeds: 1\nnew_study: [deep/sttaic]",
         "new_study", "deep/sttaic deep/static"),
        ("scales in a circle", "seeds: 1", "like: long\nseeds: 1",
         "like", "long > small > long", MORE),
        ("a width that a scale makes impossible", "width: 1/8", "width: 1/250",
         f"{RUNS}: families.base.model.heads", "heads scale"),
    ],
    LONG: [
        ("an unknown paper of updates", "seeds: [2, 4]",
         "seeds: [2, 4]\nupdates: {depe: {main: 9}}",
         "updates.depe", "depe deep"),
        # A paper's updates are merged over the scale's, which hid this.
        ("updates that are not a mapping", "seeds: [2, 4]", "seeds: [2, 4]\nupdates: 7",
         "updates", ""),
    ],
    OF_SCALES: [
        ("a group without updates", ", masked: 100}", "}",
         "small.updates", "masked deep", MORE),
        ("a key that only a scale has", "long:\n", "long:\n  seeds: 3\n", "long.seeds", "seeds"),
        ("a scale of a paper without a mapping", "  updates: {main: 900}", "  3", "long", "3"),
        ("a run of a paper's rule that does not exist", "run: [gated, uneven]",
         "run: [gated, unevne]",
         "small.rules.0.when.run", "'unevne' 'uneven'"),
    ],
    CARD: [
        ("bounds without a value between them", "minimum: 1, unit: updates",
         "minimum: 9, maximum: 1, unit: updates", "settings.tau_updates", "9 1"),
        ("a default that is impossible", "above: 0, default: 1.0", "above: 0, default: -1",
         "settings.tau.default", "-1"),
        ("a stack that the card does not allow", "stacks: [encoder, decoder]", "stacks: [encoder]",
         f"{RUNS}: families.gates.method.stacks", "latent_layers encoder"),
        ("a method whose gates are all refused", "refused:\n",
         "refused:\n  - {gates: hard, settings: {sample: soft}, reason: x}\n"
         "  - {gates: soft, settings: {sample: soft}, reason: x}\n",
         f"{RUNS}: families.gates.method.name", "x"),
        ("a rule too deep to read", "rule: tau_updates <= updates",
         f"rule: {'(' * 300}tau{')' * 300} < 3",
         "requires.0.rule", ""),
        ("an unknown equation of a card", "[Eq. 1]", "[Eq. 11]", "equations.0", "Eq. 11 Eq. 1"),
    ],
    SOURCE: [
        ("a source without its size", "bytes: 1000\n", "", "bytes", "value"),
        ("a checksum of another form", "sha256: 0", "sha256: x",
         "sha256", "x123456789abcdef0123456789abcdef0123456789abcdef01…"),
        ("a package with an option of pip", "package: Words", 'package: "Words\\n-i http://x"',
         "package", "Words"),
    ],
    TEXTS: [
        ("an archive with a checksum and no size", "bytes: 2000\n", "", ":1", "checksum"),
    ],
    PAGES: [
        ("a source for no values", "[de, fr]", "[]", "for.language", "list"),
        ("a source for an impossible name", "[de, fr]", "[De, fr]", "for", "pages_De"),
        ("a source for an unknown name", "file: <language>", "file: <langage>",
         "file", "language"),
    ],
    PLANNED: [
        ("a key of text in a planned data set", "not_built:", "max_shared: 0.2\nnot_built:",
         "max_shared", "max_shared"),
    ],
    PAIR: [
        ("files without the other side", "[train.en, valid.en, test.en]", "[train.en, valid.en]",
         "sources.texts", "deu eng"),
        ("a split by an unknown rule", "by: file, valid: [valid.de], test: [test.de]",
         "by: pairs_by_hahs, salt: a, valid: 9, test: 9", "split", "pairs_by_hash"),
        ("pieces that are learned of what is held out",
         "split: {by: file, valid: [valid.de], test: [test.de]}",
         "split: {by: pairs_by_hash, salt: a, valid: 9, test: 9}\n"
         "pieces: {merges: 9, max_words: 80, max_ratio: 9}", "split.by", "pieces file"),
        ("entries of text that is not in pieces", "pivot: eng",
         "pivot: eng\nproof: {text_of: words, lines: 9, entries: 8, threshold: 5}",
         "proof", "pieces"),
        ("a proof of an unknown text", "pivot: eng",
         "pivot: eng\npieces: marked\nproof: {text_of: wrods, lines: 9, entries: 8, threshold: 5}",
         "proof.text_of", "wrods words"),
        ("a part of the test set whose name is not a word", "test: [test.de]}",
         "test: [test.de], parts: {2-k: [train.de]}}", "split.parts.2-k", "2-k filtered"),
        ("a part of the test set that is all of it", "test: [test.de]}",
         "test: [test.de], parts: {half: [test.de]}}", "split.parts.half", "test.de some"),
        ("a part of the test set in an unknown file", "test: [test.de]}",
         "test: [test.de], parts: {half: [tain.de]}}", "split.parts.half", "tain.de train.de"),
    ],
    DOMAINS: [
        ("line numbers of an unknown task", "    law: {train: law.train",
         "    lwa: {train: law.train",
         "split.files.lwa", "lwa law", MORE),
    ],
    HALVES: [
        ("a part that is a task", "parts: {law: [", "parts: {rel: [", "parts.rel", "rel", MORE),
        ("a part of two texts", "[law1, law2]}", "[law1, law2], acts: [law2, rel]}",
         "parts.acts", "law2 law", MORE),
        ("parts of several languages", "law2: fra, rel", "law2: deu, rel",
         "translates", "deu", MORE),
        ("a package that nothing reads", "  words: po\n", "", "reads", "words"),
        ("a way to read an unknown package", "  words: po", "  words: po\n  texts: po",
         "reads.texts", "texts"),
        ("verses without a version of English", ', eng: ["4"]}', "}", "sources.verses", "verses"),
    ],
    LINES: [
        ("a pivot of text without pairs", "messages: en", "messages: en\npivot: eng",
         "pivot", "pivot"),
    ],
    WIDE: [
    ],
    COLUMNS: [
        ("a tolerance of another form", "within: 1%}\n  perp", "within: 1 %}\n  perp",
         "measurements.nll.within", "1 %"),
        ("a negative tolerance", "within: 1%}\n  perp", "within: -0.5}\n  perp",
         "measurements.nll.within", "-0.5"),
        ("more decimals than a number has", "decimals: 3", "decimals: 100",
         "measurements.nll.decimals", "15"),
    ],
    CLAIMS: [
        ("a reading of no part", "  supports: {G",
         "  reading: {Gated: ours, Tuned: ours, Tnued: ours}\n  supports: {G",
         "each_gains.reading.Tnued", "Tnued Tuned"),
        ("a part without a reading", "  supports: {G", "  reading: {Tuned: ours}\n  supports: {G",
         "each_gains.reading", "Gated ours"),
        ("cells that fail without all of the sentence", "  context: Each row gains.\n", "",
         "each_gains.claim", "fail context"),
        ("words left out without all of the sentence", "Gated is worse", "Gated … worse",
         "gated_loses.claim", "… context"),
        ("an unknown placeholder of a claim", '"<row>", "bos"', '"<rwo>", "bos"',
         "each_gains.claim", "<rwo> row"),
        ("a claim about cells of two lengths", '["Gated", "avg"] <',
         '["Gated", ["bos", "fra"]] < table1["Static", ["bos", "fra", "kor"]] <',
         "gated_loses.claim", "2 3"),
        ("a sentence below figures with an answer", "[figure2]", "[figure2]\n  supports: holds",
         "curve_falls.supports", "supports"),
        ("an expression over a figure", "'table1[", "'figure2[",
         "gated_loses.claim", "figure2 `figures: [figure2]`"),
    ],
    DEVIATIONS: [
        ("a deviation of a run", "applies: [base,", "applies: [gated, base,",
         "clip.applies.0", "gated"),
        ("a deviation of nothing", "[base, latent_layers, table1, figure1]", "[]",
         "clip.applies", ""),
        ("an unknown setting of a deviation", "[training.clip]", "[training.clip, training.clpi]",
         "clip.settings.1", "training.clpi 'training.clip'"),
        ("an unknown metric of a deviation", "[training.clip]", "[training.clip, metric.tokenise]",
         "clip.settings.1", "metric.tokenise tokenize"),
        ("a silent value without a deviation", "[training.clip]", "[]",
         f"{RUNS}: families.base.training.clip", "silent training.clip"),
        ("a silent value of another family", "[base, latent_layers, table1, figure1]",
         "[adapters]",
         f"{RUNS}: families.base.training.clip", "silent"),
        ("a default without a deviation", "    - training.weight_decay\n", "",
         f"{RUNS}:30: runs.static", "training.weight_decay static and 12 more runs settings"),
        ("a default of a run that no deviation applies to", "applies: [paper]",
         "applies: [gates]",
         f"{RUNS}:30: runs.static", "data.target_token, model.residuals, static settings", MORE),
    ],
    CSV: [
        ("a table without reported cells", None, None, "", "numbers"),
        ("digits that are letters", "Static,bos,20.0", "Static,bos,2O.0", ":3", "2O.0"),
        ("digits of another script", "Static,bos,20.0",
         "Static,bos,\uff12\uff10.0", ":3", "\uff12\uff10.0"),
        ("a negative standard error", "avg,20.5,0.1", "avg,20.5,-1", ":2", "-1"),
        ("a cell twice", "Static,bos,20.0,,,,\n", "Static,bos,20.0,,,,\nStatic,bos,20.0,,,,\n",
         ":4", "3"),
        ("neither a number nor an outcome", "Static,bos,20.0", "Static,bos,", ":3", "diverged"),
        ("N/A where the table has a run", "diverged", "N/A as printed", ":15", "deep/uneven"),
        ("a standard error of one seed", "Gated,avg,20.1,", "Gated,avg,20.1,0.1",
         ":7", "deep/gated"),
        ("a mark without a number", "Tuned,kor,,,,,", "Tuned,kor,,,bold,,", ":15", "mark"),
        ("a difference that is no number", ",-0.1", ",much", ":9", "much added"),
        ("more than 100 BLEU", "Static,bos,20.0", "Static,bos,200", ":3", "200"),
        ("less than 0 BLEU", "Static,bos,20.0", "Static,bos,-20.0", ":3", "-20.0"),
        ("less than 0 nats", "Static,nll_valid,2.1", "Static,nll_valid,-2.1", ":6", "-2.1 nats"),
        ("six fields", "Static,bos,20.0,,,,", "Static,bos,20.0,,,", ":3", "6 7"),
        ("another header", "row,column", "rows,column", ":1", "row,column,value"),
        ("a quote inside a field", "Static,bos", 'Static,"bos"x', ":3", "CSV"),
    ],
    CSV_OF_TABLE_2: [
        ("a number where the table has nothing", "fixed,,,,,N/A as printed", "fixed,6.0,,,,",
         ":7", "N/A"),
    ],
}  # fmt: skip
# A file, a name misspelt, the right one, a text with it, and the place; the finding has both names.
MISSPELT = [
    (RUNS, "prae", "pre", "norm: pre", "families.base.model.norm"),
    (RUNS, "gatse", "gates", "gated: {like: [base, gates]}", "runs.gated.like"),
    (RUNS, "lik", "like", "pair_8: {like: pair", "runs.pair_8.lik"),
    (RUNS, "fro", "for", "    for: {b: [0, 2]}", "runs.beta_<b>.fro"),
    (RUNS, "statc", "static", "method: static", "families.base.method"),
    (RUNS, "botleneck", "bottleneck", "bottleneck: 128", "runs.tuned.method.botleneck"),
    (RUNS, "wrods", "words", "data: {dataset: words,", "families.base.data.dataset"),
    (RUNS, "sattic", "static", "start: {run: static,", "runs.tuned.start.run"),
    (TABLES, "tabel4", "table4", "like: table4", "table5.like"),
    (TABLES, "gaetd", "gated", "    Gated: gated\n", "table1.rows.Gated"),
    (TABLES, "kro", "kor", "kor: uneven", "table1.rows.Tuned.kro"),
    (TABLES, "fixd", "fixed", "empty: [fixed]", "table2.rows.depth.empty", MORE),
    (TABLES, "nll_vaild", "nll_valid", "tasks, nll_valid]", "table1.columns.2"),
    (TABLES, "vaild", "valid", "value: bleu.valid, metric", "table3.blocks.Valid.value"),
    (TABLES, "pair", "pairs", "train: pairs.train", "table4.columns.train"),
    (TABLES, "thousand", "thousands", "in thousands", "table4.columns.train"),
    (TABLES, "wrods", "words", "  corpus: words", "table4.corpus"),
    (TABLES, "kro", "kor", "unknown_for: [kor]", "table1.metric.unknown_for"),
    (TABLES, "Sattic", "Static", "gain, to: Static}", "table1.marks.bold.to"),
    (PARAMETERS, "bsae", "base", "like: base", "vocabularies.0.like"),
    (PARAMETERS, "tabel7", "table7", "[table6, table7]", "unexplained.0.tables"),
    (FIGURES, "linse", "lines", "kind: lines", "figure2.kind"),
    (FIGURES, "gaetd", "gated", "lines: {gated: gated}", "figure2.lines.gated"),
    (WORDS, "packges", "packages", "format: packages", "format"),
    (WORDS, "kro", "kor", "kor: [ko]}", "sources.words.kro", MORE),
    (WORDS, "wrods", "words", "  words: {bos", "sources.wrods"),
    (WORDS, "kro", "kor", "  kor: {train", "expected.kro", MORE),
    (SMALL, "widht", "width", "width: 1/8", "times"),
    (SMALL, "wrods", "words", "{words: fewer}", "datasets.wrods"),
    (SMALL, "fewr", "fewer", "{words: fewer}", "datasets.words"),
    (SMALL, "deep/sttaic", "deep/static", "check_learning: {run: deep/static",
     "check_learning.run"),
    (LONG, "smal", "small", "like: small", "like"),
    (OF_SCALES, "mian", "main", "updates: {main: 300,", "small.updates.mian"),
    (OF_SCALES, "others", "main", "updates: {main: 300,", "small.updates.others", MORE),
    (OF_SCALES, "smal", "small", "small:\n", "smal"),
    (CARD, "tua", "tau", "released: {tau: 5.0", "presets.released.tua"),
    (CARD, "target_dept", "target_depth", "stacks_of: target_depth",
     "settings.target_depth_stacks.stacks_of"),
    (CARD, "dep", "deep", "paper: deep", "paper"),
    (PAIR, "tset.de", "test.de", "test: [test.de]", "split.test"),
    (DOMAINS, "nubmers", "numbers", "source: numbers", "split.source"),
    (HALVES, "law3", "law2", "[law1, law2]}", "parts.law", MORE),
    (HALVES, "rle", "rel", "shown_as: {rel:", "shown_as.rle"),
    (LINES, "eng", "en", "messages: en", "messages"),
    (WIDE, "Sattic", "Static", "to: Static}", "papers/wide/reported/table1.csv:2"),
    (COLUMNS, "chfr", "chrf", "  chrf:", "measurements.chfr"),
    (COLUMNS, "vaild", "valid", "value: nll.valid", "columns.nll_valid.value"),
    (CLAIMS, "tabel1", "table1", "'table1[", "gated_loses.claim"),
    (CLAIMS, "Tnued", "Tuned", "Tuned: holds}", "each_gains.supports.Tnued", MORE),
    (CLAIMS, "figrue2", "figure2", "figures: [figure2]", "curve_falls.figures.0"),
    (DEVIATIONS, "bsae", "base", "applies: [base,", "clip.applies.0", MORE),
    (CSV, "Sattic", "Static", "Static,bos", ":3"),
    (CSV, "bso", "bos", "Static,bos", ":3"),
    (CSV, "divergd", "diverged", "diverged", ":15"),
    (CSV, "blod", "bold", "Tuned,avg,21.5,,bold", ":12"),
]  # fmt: skip
ROWS = {row[0]: (file, *row[1:]) for file, rows in MISTAKES.items() for row in rows}
ROWS |= {
    f"{wrong} for {right} in {file}: {where}": (
        file, text, wrong.join(text.rsplit(right, 1)), where, f"{wrong} {right}", *more
    )
    for file, wrong, right, text, where, *more in MISSPELT
}  # fmt: skip


def line_of(text, key):
    """Return the line of a key of a YAML file, or else of the nearest key above it."""
    node, line = yaml.compose(text), 1
    while key and isinstance(node, yaml.CollectionNode):
        if isinstance(node, yaml.SequenceNode):
            position, _, key = key.partition(".")
            node = node.value[int(position)]
            line = node.start_mark.line + 1
            continue
        # A rule's keys have dots.
        pairs = [pair for pair in node.value if f"{key}.".startswith(f"{pair[0].value}.")]
        if not pairs:
            break
        name, node = pairs[0]
        line, key = name.start_mark.line + 1, key[len(name.value) + 1 :]
    return line


def place(folder, file, where):
    """Return file, line and key as a finding prints them."""
    if (other := re.match(r"(\S+[.](?:yaml|csv))(?:: )?", where)) is not None:
        file, where = other[1], where[other.end() :]
    if not where or where.startswith(":"):
        return f"config/{file}{where}"
    text = (folder / "config" / file).read_text(encoding="utf-8")
    return f"config/{file}:{line_of(text, where)}: {where}"


@pytest.mark.parametrize("mistake", ROWS)
def test_a_mistake_is_found_at_its_place(copied, findings, mistake):
    file, old, new, where, words, *more = ROWS[mistake]
    found = findings((file, old, new))
    expected = place(copied, file, where)
    right = [finding for finding in found if finding.where == expected]
    assert right, f"nothing at {expected}: {[*map(str, found)]}"
    text = f"{right[0].what}; {right[0].remedy}"
    assert all(word in text for word in words.split(" ")), text
    assert "\n" not in text
    assert len(found) == 1 or more, [*map(str, found)]


def test_no_two_mistakes_have_one_name():
    assert len(ROWS) == sum(map(len, [*MISTAKES.values(), MISSPELT]))


# A message of each kind, whole: place, what is wrong, what to do.
MESSAGES = {
    "an unknown name": (
        (RUNS, "norm: pre", "nrom: pre"),
        "config/papers/deep/runs.yaml:12: families.base.model.nrom: unknown key 'nrom'; "
        "nearest valid name: 'norm'",
    ),
    "a value of another type": (
        (RUNS, "updates: 1000 ", "updates: 1000.0 "),
        "config/papers/deep/runs.yaml:17: families.base.training.updates: 1000.0 is not a whole "
        "number; write a whole number or for example '75 epochs'",
    ),
    "a value out of bounds": (
        (RUNS, "bottleneck: 128", "bottleneck: 0"),
        "config/papers/deep/runs.yaml:43: runs.tuned.method.bottleneck: 0 is too small; "
        "write 1 or more",
    ),
    "what YAML reads as another value": (
        (RUNS, "learning_rate: 1.5e-3", "learning_rate: 15e-4"),
        "config/papers/deep/runs.yaml:21: families.base.training.schedule.learning_rate: "
        "YAML reads 15e-4 as text; write 15.0e-4",
    ),
    "settings that do not go together": (
        (RUNS, "keep_weights: 3", "keep_weights: 2"),
        "config/papers/deep/runs.yaml:26: families.base.decoding.average_of: 3 saved weights are "
        "decoded, and 2 are kept; write training.keep_weights: 3 or more",
    ),
    "a requirement of a method": (
        (RUNS, "kl_weight: 3.0,", "kl_weight: 3.0, tau_updates: 2000,"),
        "config/papers/deep/runs.yaml:36: runs.fixed.method.tau_updates: the last temperature is "
        "never reached: tau_updates <= updates, but here tau_updates 2000, updates 1000; "
        "change tau_updates",
    ),
    "a value without a source": (
        (RUNS, "width: 512  # §3", "width: 512"),
        "config/papers/deep/runs.yaml:9: families.base.model.width: no source is given; "
        "add a comment with the source at the end of the line",
    ),
    "a cell that is not reported": (
        (CSV, "Static,bos,20.0,,,,\n", ""),
        "config/papers/deep/reported/table1.csv: no reported cell for row 'Static' and column "
        "'bos'; add Static,bos,<number>,,,, or note N/A as printed",
    ),
    "a part of paper.yaml that the paper leaves open": (
        (PAPER, "As printed.}  # §5", "As printed.}  # tokenize silent"),
        "config/papers/deep/paper.yaml:5: metric.tokenize: the paper is silent, and "
        "deviations.yaml says nothing; name metric.tokenize in the `settings` of an entry with "
        "applies: [paper], or what is silent in the comment",
    ),
    "a missing file": (
        (TABLES, None, None),
        "config/papers/deep/tables.yaml: no such file, and "
        "config/papers/deep/reported/table1.csv needs it; restore it",
    ),
}


@pytest.mark.parametrize("kind", MESSAGES)
def test_a_message_says_where_what_and_what_to_do(findings, kind):
    edit, message = MESSAGES[kind]
    assert [*map(str, findings(edit))] == [message]


FILES = (
    COLUMNS, SMALL, LONG, WORDS, SOURCE, "methods/static.yaml", CARD, PAPER, RUNS, TABLES, FIGURES,
    DEVIATIONS, CLAIMS, PARAMETERS, SWITCHES,
)  # fmt: skip


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_cannot_be_read_is_one_finding_and_hides_no_other(findings, file):
    """What names something in it is no mistake."""
    broken = (file, None, "a: [\n")
    (finding,) = findings(broken)
    assert finding.where.startswith(f"config/{file}:")
    other = (PAIR, "max_shared: 0.2", "max_shared: 2")
    places = [finding.where.split(":")[0] for finding in findings(broken, other)]
    assert sorted(places) == sorted([f"config/{file}", f"config/{other[0]}"])


@pytest.mark.parametrize("file", [PAPER, RUNS, TABLES, FIGURES, DEVIATIONS])
def test_a_file_that_is_gone_is_one_finding(findings, file):
    """A deleted tables.yaml was 95 findings: runs without use, unread numbers, unknown names."""
    (finding,) = findings((file, None, None))
    assert finding.where == f"config/{file}"


@pytest.mark.parametrize("file", FILES)
def test_a_key_that_a_file_does_not_have_is_one_finding_of_that_file(findings, copied, file):
    text = (copied / "config" / file).read_text(encoding="utf-8")
    found = findings((file, None, f"{text}\nanother_key: {{a: 1}}\n"))
    assert {finding.where.split(":")[0] for finding in found} == {f"config/{file}"}


def test_mistakes_of_several_files_are_found_at_once(findings):
    found = findings(
        (RUNS, "gated: {like: [base, gates]}", "gated: {like: [base, gatse]}"),
        (TABLES, "title: Text", "titel: Text"),
        (CSV, "Static,bos,20.0", "Static,bos,2O.0"),
        (WORDS, "pivot: eng", "pivot: eng\nextra: 1"),
    )
    names = ("'gatse'", "'titel'", "'2O.0'", "'extra'")
    assert [sum(name in str(finding) for finding in found) for name in names] == [1, 1, 1, 1]
    assert len(found) == 4


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("norm: pre", "nrom: pre"),
        ("pair: {like: base", "pair: {like: bsae"),
        ("width: 512", "width: 510"),
        ("bottleneck: 128", "bottleneck: 0"),
    ],
)
def test_claims_and_printed_cells_do_not_wait_for_runs(findings, old, new):
    """They were found in a second and third go, after runs and cells were corrected."""
    ours = (
        "far: {sentence: A., section: A, claim: 'failed(table1[\"Far\"])', supports: not printed}\n"
    )
    of_runs = findings((RUNS, old, new), (CLAIMS, "curve_falls:", f"{ours}curve_falls:"))
    assert not any(CLAIMS in finding.where for finding in of_runs)
    found = findings(
        (CSV_OF_TABLE_2, "depth,0,", "depth,0,x"),
        (CLAIMS, '"bos"] > table1["Static", "bos"]', '"bos"] > table1["Sattic", "bos"]'),
        (CLAIMS, "supports: holds", "supports: fails"),
    )
    names = {*map(str, found)} - {*map(str, of_runs)}
    assert len(names) == 3, names
    # Of a table with a wrong cell, claims are read for their names.
    found = findings((CSV, "Static,bos,20.0", "Sattic,bos,20.0"))
    words = ("x6.0", "table1 has no row 'Sattic'", ": no row 'Sattic'")
    assert all(sum(word in str(finding) for finding in found) == 1 for word in words)
    assert len(found) == len(of_runs) + 3, [*map(str, found)]


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("papers/deep/figure.yaml", "figures.yaml"),
        ("papers/deep/tables.yml", "tables.yaml"),
        ("papers/deep/report", "reported"),
        ("papers/deep/reported/table8.csv", "table7.csv"),
        ("scales/other.yml", "other.yaml"),
        ("sources/other.yml", "other.yaml"),
        ("columns.yml", "columns.yaml"),
        ("tiny.yaml", "move"),
        ("scale/tiny.yaml", "move"),
        ("papers/runs.yaml", "move"),
        ("scales/notes.txt", "move"),
        ("datasets/more/pair.yaml", "move"),
    ],
)
def test_a_file_that_nothing_reads_is_refused(findings, name, nearest):
    (finding,) = findings((name, None, "x: 1\n"))
    assert f"config/{name}".startswith(finding.where)
    assert nearest in finding.remedy


FOLDERS = ("", "scales/", "sources/", "datasets/", "methods/", "papers/", "papers/deep/")
LEFT = (".x.yaml", ".x.yaml.swp", "#x.yaml#", "x.yaml~", "x.yaml.orig", "x.yaml.bak", "README.md")


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_editors_leave_beside_files_of_config_stops_nothing(edited, folder):
    """While Emacs had a scale open, its lock `.#tiny.yaml` stopped every command."""
    before = load(edited()).entries
    root = edited(*((f"{folder}{name}", None, "[\n") for name in LEFT))
    lock = root / "config" / folder / ".#x.yaml"
    lock.symlink_to("user@host.4711:1")
    try:
        after = load(root).entries
    finally:
        lock.unlink()
    assert {*after} == {*before}


@pytest.mark.parametrize("files", [(), ("notes.md", "reported")])
def test_a_papers_folder_without_its_files_is_refused(copied, findings, files):
    """It was left out in silence, whatever its name."""
    folder = copied / "config" / "papers" / "Bad-One"
    folder.mkdir()
    try:
        for name in files:
            (folder / name).touch()
        (finding,) = findings()
    finally:
        shutil.rmtree(folder)
    assert finding.where == "config/papers/Bad-One"
    assert "paper.yaml" in finding.remedy


@pytest.mark.parametrize("name", [".hidden", "notes.md", "reported/.hidden"])
def test_hidden_files_and_notes_may_be_in_a_papers_folder(edited, name):
    assert load(edited((f"papers/deep/{name}", None, "Text.\n")))


def test_the_name_of_a_file_and_of_a_paper_is_one_that_folders_and_shells_take(copied, findings):
    papers = copied / "config" / "papers"
    (papers / "wide").rename(papers / "my-paper")
    try:
        (finding,) = findings()
        assert finding.where == "config/papers/my-paper"
    finally:
        (papers / "my-paper").rename(papers / "wide")
    (finding,) = findings(("scales/Small-1.yaml", None, "title: other\n"))
    assert finding.where == "config/scales/Small-1.yaml"


def link(path):
    path.symlink_to("nowhere")


def in_latin_1(path):
    path.write_bytes(b"title: caf\xe9\n")


@pytest.mark.parametrize(
    ("file", "make", "what"),
    [
        (CLAIMS, link, ""),
        (PARAMETERS, link, ""),
        (CSV, Path.mkdir, "a folder, not a file"),
        ("scales/other.yaml", in_latin_1, ""),
        ("scales/other.yaml", os.mkfifo, ""),
    ],
)
def test_what_is_not_a_file_of_text_is_one_finding(edited, findings, file, make, what):
    """A paper whose claims.yaml led nowhere had no claims, and a pipe was waited for."""
    path = edited((file, None, "")) / "config" / file
    path.unlink()
    make(path)
    try:
        (finding,) = findings()
    finally:
        path.rmdir() if path.is_dir() else path.unlink()
        path.touch()
    assert finding.where == f"config/{file}"
    assert what in finding.what


def test_what_is_no_project_is_refused(tmp_path):
    with pytest.raises(FathomError):
        load(tmp_path)


def test_a_table_that_excel_saved_reads_as_before(edited, copied):
    """Excel begins a file with a byte-order mark and ends lines with CR and LF."""
    text = (copied / "config" / CSV).read_text(encoding="utf-8")
    assert load(edited((CSV, None, "\ufeff" + text.replace("\n", "\r\n"))))


def test_a_printed_difference_may_be_negative(edited):
    edits = [
        (TABLES, "added: {means: with difference", "added: {means: difference"),
        (CSV, "Gated,bos,19.5,,,,", "Gated,bos,-0.5,,added,,"),
    ]
    assert load(edited(*edits))


def test_the_line_of_a_missing_cell_can_be_pasted(findings):
    found = findings((TABLES, "    Gated: gated\n", '    Gated: gated\n    "ours, a": gated\n'))
    assert 'add "ours, a",bos,<number>,,,,' in " ".join(finding.remedy for finding in found)


def test_a_paper_whose_runs_yaml_is_not_yaml_hides_no_short_name_of_others(edited):
    project = load(edited(("papers/wide/runs.yaml", None, "a: [\n")), check=False)
    assert project.run_named("gated", "small").name == "deep/gated"
    assert "deep/gated" in Needs(project, "small", papers=("deep",)).runs
    deep, artefacts = project.papers["deep"], Artefacts(project, Paths(Path("nowhere"), "small"))
    assert artefacts.compared(deep, deep.tables["table1"]).cells
    with pytest.raises(FathomError, match=r"papers/wide/runs[.]yaml"):
        project.run_named("gatde", "small")


def test_the_order_of_stacks_is_not_part_of_the_identity(edited):
    first = load(
        edited((RUNS, "norm: pre", "residuals: [encoder, decoder]  # §3\n      norm: pre"))
    )
    second = load(edited((RUNS, "[encoder, decoder]", "[decoder, encoder]")))
    assert first.spec("deep/gated").identity == second.spec("deep/gated").identity


def test_a_message_about_the_data_set_of_a_paper_names_its_file(edited, copied):
    text = (copied / "config" / WORDS).read_text(encoding="utf-8")
    project = load(edited(("papers/wide/datasets/letters.yaml", None, text)))
    where = project.datasets["letters"].place("expected", "bos", "train")
    assert where.startswith("config/papers/wide/datasets/letters.yaml:")


@pytest.mark.parametrize(
    ("file", "old", "new", "scale"),
    [
        (TABLES, "title: Text", "titel: Text", "small"),
        (TABLES, None, "a: [\n", "small"),
        (CLAIMS, None, "a: [\n", "small"),
        (CLAIMS, "supports: holds", "supports: fails", "small"),
        (CLAIMS, "'table1[", "'tabel1[", "small"),
        (FIGURES, "kind: ", "kid: ", "small"),
        (FIGURES, "kind: lines", "kind: linse", "small"),
        (DEVIATIONS, None, "a: {}\n", "small"),
        (CSV, "Static,bos,20.0", "Static,bos,2O.0", "small"),
        (SMALL, "width: 1/8", "width: 1/0", "full"),
        (LONG, None, "title: 3\n", "small"),
        (LONG, "seeds: [2, 4]", "seeds: 1.5", "small"),
        (OF_SCALES, "long:\n", "lnog:\n", "small"),
        (CARD, "default: ", "defualt: ", "small"),
        (PAIR, "tasks: ", "taks: ", "small"),
    ],
)
def test_a_mistake_of_another_paper_or_scale_stops_no_table(edited, file, old, new, scale):
    """What a table of one paper does not need was checked before it was drawn."""
    folder = edited((file, old, new))
    project = load(folder, check=False)
    for table in project.papers["wide"].tables.values():
        assert {cell.source for cell in project.cells(table, scale)} == {"deep/static"}
    assert not check.findings(project, "wide")
    with pytest.raises(Findings):
        load(folder, check.beyond_config)


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ("tau_updates <= updates", True),
        ("updates <= tau_updates", False),
        ("updates < updates", False),
        ("width % tau_updates == 0", False),
        ("width % layers == 0", None),
        ("tau_updates + tasks <= updates", True),
        ("tau_updates + tasks * updates <= updates", False),
        ("tau_end < updates", True),
        ("tau_updates % inside == 0", None),
        ("target_depth % kl_weight == 0", False),
    ],
)
def test_a_rule_of_a_card_compares_settings_and_counts_of_each_run(edited, rule, holds):
    """Null breaks no rule; what is divided by zero does. None: a name that no run has."""
    folder = edited((CARD, "rule: tau_updates <= updates", f"rule: {rule}"))
    with nullcontext() if holds else pytest.raises(Findings) as caught:
        load(folder)
    if not holds:
        assert ("requires.0.rule" if holds is None else "method") in str(caught.value)


def test_all_mistakes_of_one_family_are_found_at_once(findings):
    """Wrong `layers` or a wrong `like` hid what else is wrong in the entry."""
    found = findings(
        (RUNS, "layers: 8/12", "like: nothing\n    layers: 8"),
        (RUNS, "heads: 4", "heads: x"),
        (RUNS, "norm: pre", "nrom: pre"),
    )
    keys = {finding.where.partition("families.base.")[2] for finding in found}
    assert keys == {"like", "layers", "model.heads", "model.nrom"}


@pytest.mark.parametrize(
    ("part", "matters"),
    [
        ("{updates: {main: 0.5}}", False),
        ("{rules: [{set: 3}]}", False),
        ("{datasets: 3}", True),
        ("{datsets: {words: fewer}}", True),
        ("3", True),
    ],
)
def test_of_a_papers_part_of_a_scale_other_papers_take_the_data_sets_alone(edited, part, matters):
    """Any mistake in it stopped the tables and runs of all papers."""
    folder = edited(("papers/wide/scales.yaml", None, f"small: {part}\n"))
    project = load(folder, check=False)
    assert project.spec("deep/static")
    with pytest.raises(Findings) if matters else nullcontext():
        assert project.spec("deep/static", "small").data.dataset == "fewer"
    with pytest.raises(Findings):
        load(folder)


def test_a_paper_without_scales_yaml_is_refused_where_a_scale_gives_others_updates(
    copied, findings
):
    """Its runs could not be trained at that scale, and config was valid."""
    runs = (copied / "config" / RUNS).read_text(encoding="utf-8")
    (finding,) = findings(("papers/wide/runs.yaml", None, runs))
    assert finding.where == "config/papers/wide/scales.yaml"


def test_a_table_of_a_paper_whose_runs_yaml_is_gone_names_that_file(edited):
    """It was a list of runs of other papers for each cell."""
    project = load(edited((RUNS, None, None)), check=False)
    for paper in ("deep", "wide"):
        with pytest.raises(FathomError) as caught:
            project.cells(project.papers[paper].tables["table1"])
        assert {str(finding) for finding in caught.value.findings} == {
            "config/papers/deep/runs.yaml: no such file, and tables or figures name its runs; "
            "restore it"
        }
