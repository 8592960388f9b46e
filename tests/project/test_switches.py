import pytest

from fathom.errors import FathomError
from fathom.project.switches import seed_list


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("3", (1, 2, 3)), (2, (1, 2)), ("2-4", (2, 3, 4)), ("2,5", (2, 5)), ("1-2, 7", (1, 2, 7))],
)
def test_seeds_are_a_number_a_range_or_a_list(text, seeds):
    assert seed_list(text) == seeds


@pytest.mark.parametrize("text", ["", "x", "1-", "3-1", "1,,2", "-1", "0"])
def test_other_texts_name_no_seeds(text):
    with pytest.raises(FathomError, match="names no seeds; write 3, 1-5 or 2,5"):
        seed_list(text)
