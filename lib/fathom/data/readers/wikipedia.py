"""Dumps of Wikipedia, one for each language: sentences of articles, without pairs.

A code is the name that a wiki gives itself, such as enwiki. dumps.py says what an article is,
wikitext.py what is left of its text, and sentencex of Wikimedia splits paragraphs into sentences,
by the terminators of Unicode and lists of abbreviations. A sentence is dropped for the first of:

1. no_letter: nothing in it is a letter;
2. too_long: it has more characters than the card allows.

Distinct sentences with the least hashes are validation and test; `held_out` counts what repeats one
of them. Some articles are drawn for training (draw.py), and `not_drawn` counts the sentences of all
others. `page_unreadable` counts pages that the parser gives up. Memory holds a few articles, and
what is held out.
"""

from collections import Counter
from functools import partial
from pathlib import Path

from mwparserfromhell.parser import ParserError
from sentencex import segment  # pyright: ignore[reportAttributeAccessIssue] -- compiled

from fathom.config.schema.dataset import WikipediaDataset
from fathom.config.vocabulary import short_code
from fathom.data.clean import has_letter
from fathom.data.draw import Draw
from fathom.data.dumps import Article, Dump
from fathom.data.members import REMEDY
from fathom.data.processes import mapped
from fathom.data.texts import Line, TaskText
from fathom.data.wikitext import paragraphs
from fathom.io.errors import FathomError


def read(files: dict[str, Path], dataset: WikipediaDataset) -> dict[str, TaskText[Line]]:
    """Read, clean and split the sentences of all tasks.

    Args:
        files: the dump of each source; its folder gets a nameless file with the sentences.
        dataset: tasks, codes and rules.

    Raises:
        FathomError: a dump breaks off, is no dump or of another wiki, or has too few sentences.
    """
    return {
        task: _task(Dump(files[source], wiki), task, dataset)
        for task in dataset.tasks
        for source in dataset.sources
        for wiki in dataset.codes(source, task)
    }


def _task(dump: Dump, task: str, dataset: WikipediaDataset) -> TaskText[Line]:
    """Return the text of a task."""
    split, faults, count = dataset.split, Counter[str](), 0
    draw = Draw(dump.path.parent, split)
    work = partial(_sentences, short_code(dataset.language(task)), dataset.cleaning.max_characters)
    pages = ((article, dump.silent) for article in dump.articles())
    for title, sentences, broken in mapped(work, pages):
        draw.add(title, sentences)
        faults += broken
        count += len(sentences)
    held = draw.held_out()
    training = draw.training(split.most(task))
    if len(held) < split.held_out or not training.left:
        what = f"{count:,} sentences are too few to hold {split.held_out:,} out and to train"
        raise FathomError(what, dump.path.name, REMEDY)
    if not len(training):
        what = f"{split.train[task]} are fewer sentences than the first article has"
        where = f"config/datasets/{dataset.name}.yaml: split.train.{task}"
        raise FathomError(what, where, f"raise it; the dump has {training.left:,}")
    repeated = count - len(held) - training.left
    dropped = faults + Counter(held_out=repeated, not_drawn=training.left - len(training))
    dropped += Counter({f"page_{reason}": number for reason, number in dump.dropped.items()})
    splits = {"train": training, "valid": held[: split.valid], "test": held[split.valid :]}
    return TaskText(splits, count + faults["no_letter"] + faults["too_long"], dropped)


def _sentences(
    language: str, longest: int, page: tuple[Article, set[str]]
) -> tuple[str, list[str], Counter[str]]:
    """Return an article's title, its sentences, and how many each rule dropped."""
    article, silent = page
    sentences, faults = [], Counter[str]()
    try:
        shown = [*paragraphs(article.text, silent)]
    except ParserError:
        return article.title, [], Counter(page_unreadable=1)
    for paragraph in shown:
        for sentence in map(str.strip, segment(language, paragraph)):
            if not has_letter(sentence):
                faults["no_letter"] += 1
            elif len(sentence) > longest:
                faults["too_long"] += 1
            else:
                sentences.append(sentence)
    return article.title, sentences, faults
