"""The YAML reader: marks of keys and values, and what it makes of scalars."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from holdfast.errors import ProjectError
from holdfast.jobs.projectfile import tree, yamlfile
from holdfast.jobs.projectfile.yamlfile import read_yaml

TEXT = """\
# a comment
a: é x
b:
  - true
  - {c: "no", d: }
'e': |
  two
  lines
"""


@pytest.fixture(params=["CSafeLoader", "SafeLoader"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every promise holds with libyaml and without it."""
    monkeypatch.setattr(yamlfile, "_LOADER", getattr(yaml, request.param))


def read(folder: Path, text: str | bytes) -> tree.Node | None:
    file = folder / "x.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_yaml(file, "x.yaml")


@pytest.mark.usefixtures("loader")
def test_values_and_marks(tmp_path: Path) -> None:
    root = read(tmp_path, TEXT)
    assert root is not None
    assert tree.plain(root) == {
        "a": "é x",
        "b": (True, {"c": "no", "d": None}),
        "e": "two\nlines\n",
    }
    assert tree.key_mark(root, ("a",)) == tree.Mark(2, 1)
    assert tree.key_mark(root, ("b", 1, "d")) == tree.Mark(5, 15)
    assert tree.key_mark(root, ("b", 7, "nowhere")) == tree.Mark(3, 1)
    value = tree.node_at(root, ("b", 1, "c"))
    assert value is not None
    assert value.mark == tree.Mark(5, 9)
    assert tree.node_at(root, ("a", "b")) is None


@pytest.mark.usefixtures("loader")
def test_a_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    root = read(tmp_path, b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")
    assert root is not None
    assert tree.plain(root) == {"a": "1", "b": "2"}
    assert tree.key_mark(root, ("b",)) == tree.Mark(2, 1)


@pytest.mark.usefixtures("loader")
def test_an_own_key_counts_more_than_a_merged_one(tmp_path: Path) -> None:
    text = "x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nz: {b: 3, <<: [*x, *y]}\n'<<': 4\n"
    root = read(tmp_path, text)
    assert root is not None
    plain = tree.plain(root)
    assert isinstance(plain, dict)
    assert plain["z"] == {"a": "1", "b": "3", "c": "2"}
    assert plain["<<"] == "4"


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize("text", ["[" * 5000, "a: " * 5000, "- " * 5000, "{a: " * 5000])
def test_nothing_is_too_deep_for_an_answer(tmp_path: Path, text: str) -> None:
    with pytest.raises(ProjectError) as raised:
        read(tmp_path, text)
    assert raised.value.code.number == "HF1102"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ProjectError) as raised:
        read_yaml(tmp_path / "none.yaml", "none.yaml")
    assert raised.value.code.number == "HF1101"
    assert "no such file" in raised.value.message
