"""What files tell of a store: columns, layout of keys, and how rows are shown."""

from __future__ import annotations

import pytest

from holdfast.checkpoint.reading import read_picture
from holdfast.format.state.operators import OperatorMetadata
from holdfast.format.strictjson import decode_object
from holdfast.state.layouts import StoreLayout, layouts_of
from holdfast.storage.memory import MemoryReader
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus, sample

TRANSFORMS = [one for one in corpus() if one.name.startswith("transform-")]
SHOWN = {"ValueState": "value", "ListState": "list", "MapState": "map", "TimerState": "timer"}


def layouts(files: dict[str, bytes], batch: int = 1_000) -> dict[str, StoreLayout]:
    """Describe the first operator's stores by name."""
    picture = read_picture(MemoryReader(files))
    return {layout.name: layout for layout in layouts_of(picture, 0, batch)}


def variables(metadata: OperatorMetadata) -> dict[str, tuple[str, bool]]:
    """Give what an operator itself says of its variables."""
    listed = (metadata.properties or {})["stateVariables"]
    assert isinstance(listed, list)
    return {
        one["stateName"]: (SHOWN[one["stateVariableType"]], one["ttlEnabled"]) for one in listed
    }


@over_samples("one", TRANSFORMS)
def test_schemas_tell_variables_as_their_operator_does(one: Sample) -> None:
    """The column families alone tell kinds and times to live; metadata says the same."""
    picture = read_picture(MemoryReader(one.files()))
    found = {
        layout.family: (layout.shown.value, layout.has_ttl)
        for layout in layouts_of(picture, 0, 1_000)
        if not layout.internal
    }
    assert found == variables(picture.operators[0])


def test_a_batch_is_described_by_the_files_of_its_time() -> None:
    """The variable `batches` came with the second run, at batch 3."""
    files = sample("transform-pandas-evolved", "4.3.0").files()
    assert "batches" not in layouts(files, batch=2)
    assert "batches" in layouts(files, batch=3)


def test_a_moved_checkpoint_is_described_by_its_own_files() -> None:
    """The recorded paths are absolute: only their last part counts."""
    files = dict(sample("join-format-3", "4.3.0").files())
    name = "state/0/_metadata/v2/0"
    files[name] = files[name].replace(b"/tmp/holdfast-corpus/", b"/gone/")
    assert layouts(files)["left-keyWithIndexToValue"].key_json is not None


@pytest.mark.parametrize("spark", ["3.5.9", "4.3.0"])
def test_the_start_of_a_session_is_no_part_of_the_prefix(spark: str) -> None:
    """Spark 3.5 records no number of prefix columns; the columns' names tell it."""
    (layout,) = layouts(sample("session-window-rocksdb", spark).files()).values()
    assert decode_object(layout.encoder_json, what="encoder")["numColsPrefixKey"] == 1
    assert layout.placed_by == 1


@pytest.mark.parametrize(
    ("name", "store", "placed_by"),
    [
        ("aggregation-hdfs-lz4", "default", 2),
        ("deduplicate-columns", "default", 2),
        ("join", "left-keyWithIndexToValue", 1),
        ("join", "left-keyToNumValues", 1),
        ("join-format-4", "right-keyWithTsToValues", 1),
        ("transform-pandas", "total", 1),
        ("transform-pandas", "by_parity", None),
    ],
)
def test_what_tells_rows_of_one_key_apart_does_not_place_them(
    name: str, store: str, placed_by: int | None
) -> None:
    """Index, event time and start of a session; keys of maps are nested."""
    assert layouts(sample(name, "4.3.0").files())[store].placed_by == placed_by


def test_without_metadata_the_kind_is_said_to_be_inferred() -> None:
    """Spark 3.5 writes none; Spark 4.0 adds it when it goes on."""
    (old,) = layouts(sample("upgrade", "3.5.9").files()).values()
    assert [finding.code for finding in old.findings] == ["HF2746"]
    assert old.operator_name is None
    (new,) = layouts(sample("upgrade", "4.3.0").files()).values()
    assert (new.operator_name, new.findings) == ("stateStoreSave", ())


@pytest.mark.parametrize("damage", [None, b"\0\2v9"], ids=["missing", "damaged"])
def test_without_a_schema_nothing_is_guessed(damage: bytes | None) -> None:
    """The columns are unknown, and the reason is told."""
    files = dict(sample("aggregation-hdfs-lz4", "4.3.0").files())
    path = "state/0/0/_metadata/schema"
    files.pop(f"state/0/0/_metadata/.{'schema'}.crc", None)
    if damage is None:
        del files[path]
    else:
        files[path] = damage
    (layout,) = layouts(files).values()
    assert layout.key_json is None
    (finding,) = layout.findings
    assert finding.code == "HF2745"
    assert ("is damaged" in finding.message) == (damage is not None)
