from fathom.train.batches.places import SIDES, SPLITS, dictionary_path, prefix


def test_every_file_of_an_encoded_data_set_is_at_one_of_these_places(tensors):
    folder = tensors.folder
    places = [
        prefix(folder, task, split, side)
        for task in tensors.tasks
        for split in SPLITS
        for side in SIDES
    ]
    expected = {place.with_name(place.name + end) for place in places for end in (".bin", ".idx")}
    expected |= {dictionary_path(folder, side) for side in SIDES} | {folder / "tensors.json"}
    assert {path for path in folder.rglob("*") if path.is_file()} == expected
