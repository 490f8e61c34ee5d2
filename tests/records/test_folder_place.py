"""Records lie beside the checkpoint, at one place for every spelling of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import HoldfastError
from holdfast.records.folder import part_of_records, records_beside
from holdfast.storage.location import parse_location


@pytest.mark.parametrize(
    ("spelled", "place"),
    [
        ("s3a://lake/base/orders/", "s3://lake/base/.holdfast/orders"),
        ("s3://lake/base/x/../orders", "s3://lake/base/.holdfast/orders"),
        ("s3://lake/orders", "s3://lake/.holdfast/orders"),
        ("hdfs://node:8020/a/b", "hdfs://node/a/.holdfast/b"),
    ],
)
def test_places_of_urls(spelled: str, place: str) -> None:
    assert records_beside(parse_location(spelled)).url == place


def test_every_spelling_of_a_folder_has_one_place(tmp_path: Path) -> None:
    (tmp_path / "ckpt").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "ckpt")
    real = tmp_path.resolve()
    for spelled in (f"{tmp_path}/ckpt", f"{tmp_path}/link", f"file://{tmp_path}/x/../ckpt"):
        place = records_beside(parse_location(spelled))
        assert place.url == f"{real}/.holdfast/ckpt"
    assert part_of_records(place, "backups").url == f"{real}/.holdfast/ckpt/backups"


@pytest.mark.parametrize("root", ["/", "s3://bucket", "s3://bucket/"])
def test_a_root_has_nothing_beside_it(root: str) -> None:
    with pytest.raises(HoldfastError) as caught:
        records_beside(parse_location(root))
    assert caught.value.code.number == "HF4514"
