"""Pairs of messages on their way to a corpus: cleaned one by one, then made distinct and split."""

from collections import Counter
from collections.abc import Iterable

from fathom.config.schema.dataset import KeyHash, MessageCleaning
from fathom.data.clean import fault, tidy
from fathom.data.split import by_key, distinct
from fathom.data.texts import Pair, TaskText


class Pairs:
    """The pairs of several texts.

    Attributes:
        dropped: by text, how many pairs each rule dropped; readers count there what they drop.
    """

    def __init__(self, texts: Iterable[str], rules: MessageCleaning):
        """Start without pairs.

        Args:
            texts: their names.
            rules: what is dropped.
        """
        self._clean: dict[str, list[Pair]] = {text: [] for text in texts}
        self._rules = rules
        self.dropped: dict[str, Counter[str]] = {text: Counter() for text in self._clean}

    def add(self, text: str, pair: Pair) -> None:
        """Tidy a pair, and keep it or count the rule that it breaks."""
        tidied = Pair(tidy(pair.text), tidy(pair.pivot))
        if broken := fault(tidied, self._rules):
            self.dropped[text][broken] += 1
        else:
            self._clean[text].append(tidied)

    def split(self, split: KeyHash) -> dict[str, TaskText[Pair]]:
        """Return each text, with one pair for each key, by split."""
        texts = {}
        for name, clean in self._clean.items():
            pairs, dropped = distinct(clean), self.dropped[name]
            dropped["duplicate"] = len(clean) - len(pairs)
            read = len(pairs) + sum(dropped.values())
            texts[name] = TaskText(by_key(pairs, split), read, dropped)
        return texts
