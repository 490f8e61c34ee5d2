"""The tables of schemes agree with each other and with fsspec."""

from __future__ import annotations

from holdfast.storage.location import HADOOP_ONLY, OBJECT_STORES, SCHEMES, WRAPPERS, fsspec_schemes
from holdfast.storage.options import FAMILIES, KNOWN_OPTIONS


def test_the_tables_agree() -> None:
    assert not set(SCHEMES) & set(HADOOP_ONLY)
    assert set(SCHEMES.values()) >= OBJECT_STORES
    assert set(FAMILIES) <= set(SCHEMES.values())
    assert set(FAMILIES.values()) == set(KNOWN_OPTIONS)
    assert all(SCHEMES[scheme] == scheme for scheme in SCHEMES.values())


def test_what_would_copy_to_this_disk_is_no_place() -> None:
    assert not {"simplecache", "filecache", "blockcache"} & fsspec_schemes()
    assert fsspec_schemes() >= {"s3", "sftp", "https"}
    assert "cached" in WRAPPERS
