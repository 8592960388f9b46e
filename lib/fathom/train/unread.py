"""Updates whose numbers are still on the device, where reading them makes the host wait."""

from dataclasses import dataclass

from fathom.results.training_record import Ended
from fathom.train.outcomes import DivergenceWatch
from fathom.train.two_level import Result, read_together


@dataclass(frozen=True)
class Made:
    """An update that was made.

    Attributes:
        update: its number.
        tokens: target tokens of the training up to it.
        result: what happened in it.
    """

    update: int
    tokens: int
    result: Result


class Unread:
    """The updates since the last reading.

    Attributes:
        nll: training NLL of the newest update that was read, in nats a token.
    """

    def __init__(self, watch: DivergenceWatch):
        """Start without updates.

        Args:
            watch: judges each update, in their order.
        """
        self._watch, self._made, self.nll = watch, list[Made](), float("nan")

    def add(self, made: Made) -> None:
        """Add the newest update."""
        self._made.append(made)

    def read(self) -> tuple[Made, Ended | None]:
        """Read what decides, with one transfer.

        Returns:
            The update that diverged and how the run ended, or the newest update and None. Updates
            after a diverged one count for nothing.
        """
        made, self._made = self._made, []
        results = [one.result for one in made]
        numbers = read_together(
            number for result in results for number in (result.nll, result.gradient_norm)
        )
        for one, self.nll, norm in zip(made, numbers[::2], numbers[1::2], strict=True):
            ended = self._watch.check(one.update, self.nll, norm)
            if ended:
                return one, ended
        return made[-1], None
