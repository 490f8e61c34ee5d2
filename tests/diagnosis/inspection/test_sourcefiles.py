"""Files of a batch are named as its log has them, and looked for in the folders of before."""

from __future__ import annotations

from pathlib import Path

from holdfast.checkpoint.reading import SHOWN_BATCHES, read_picture
from holdfast.diagnosis.inspection.sourcefiles import files_of_batch, look_for
from holdfast.storage.location import parse_location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings

DEMO = Path(__file__).resolve().parents[3] / "demo" / "orders"


def test_a_batch_has_the_files_between_two_offsets() -> None:
    reader = open_reader(parse_location(str(DEMO)), StorageSettings())
    picture = read_picture(reader, history=SHOWN_BATCHES)
    batches = [files_of_batch(picture, one) for one in sorted(picture.offsets)]
    every = {item.path for logs in picture.source_logs.values()
             for log in logs.values() for item in log.items}  # fmt: skip
    assert any(batches)
    assert set().union(*batches) <= every
    assert sum(map(len, batches)) == len(set().union(*batches)), "no file is in two batches"
    assert files_of_batch(picture, 10_000) == frozenset()


def test_names_are_looked_up_unescaped_and_each_folder_once() -> None:
    asked: list[str] = []

    def names_in(folder: str) -> frozenset[str] | None:
        asked.append(folder)
        return {"/in/a b": frozenset({"1.json"}), "s3a://lake/in": frozenset({"x.json"})}.get(
            folder
        )

    looked = look_for(
        ["file:///in/a%20b/1.json", "file:/in/a%20b/2.json", "s3a://lake/in/x.json", "/no/3.json"],
        names_in,
    )
    assert looked.gone == ("/in/a b/2.json",)
    assert looked.unlisted == ("/no",)
    assert sorted(asked) == sorted(set(asked))
