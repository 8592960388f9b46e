from fathom.config.vocabulary import short_code
from fathom.data.wiki_codes import CODES
from tests.support.targets import own_project


def test_every_language_of_our_own_dumps_has_its_code():
    dataset = own_project().datasets["wikipedia25"]
    assert {short_code(dataset.language(task)) for task in dataset.tasks} <= CODES
    assert "re" not in CODES
