"""State variables of processors, read from their source, against recorded checkpoints."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType

from holdfast.format.state.schema import columns, decode_state_schema
from holdfast.records.facts import ColumnFacts, OperatorFacts
from holdfast.spark.facts.python.processors import UnclearError, state_variables, with_variables
from tests.corpus import processors
from tests.corpus.loading import sample

KEY = (ColumnFacts("key", "string"),)
RELEASES = ("4.0.5", "4.1.4", "4.3.0")
DDL = {
    "total long": StructType([StructField("total", LongType())]),
    "value long, note string": StructType(
        [StructField("value", LongType()), StructField("note", StringType())]
    ),
    "parity string": StructType([StructField("parity", StringType())]),
    "count long": StructType([StructField("count", LongType())]),
}


def read_schema(schema: Any) -> tuple[ColumnFacts, ...]:
    """Give the columns of a schema, without Spark's parser."""
    kind = DDL[schema] if isinstance(schema, str) else schema
    return tuple(ColumnFacts(one.name, one.type_text, one.nullable) for one in columns(kind.json()))


def recorded(shape: str, release: str) -> dict[str, Any]:
    """Give the schemas of a checkpoint by the names of column families."""
    files = sample(shape, release).files()
    (path,) = [one for one in files if "_stateSchema" in one and not one.endswith(".crc")][:1]
    return {
        family.name: tuple(
            [(one.name, one.type_text, one.nullable) for one in columns(text)]
            for text in (family.key_json, family.value_json)
        )
        for family in decode_state_schema(files[path]).families
    }


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("shape", "processor", "mode"),
    [
        ("transform-pandas", "PandasVariables", "NoTime"),
        ("transform-pandas-timers", "PandasTimeToLive", "ProcessingTime"),
        ("transform-pandas-event-timers", "PandasEventTimers", "EventTime"),
    ],
)
def test_stores_are_those_of_a_checkpoint(
    shape: str, processor: str, mode: str, release: str
) -> None:
    """Of values, lists and maps, with time to live and with timers."""
    base = OperatorFacts(0, "x", settings={"time mode": mode})
    told = with_variables(base, getattr(processors, processor)(), KEY, read_schema)
    found = {
        store.name: tuple(
            [(one.name, one.type, one.nullable) for one in side]
            for side in (store.keys, store.values)
        )
        for store in told.stores
    }
    assert found == recorded(shape, release)


def test_variables_are_shown_in_words() -> None:
    """With what decides over them."""
    found = [one.text for one in state_variables(processors.PandasTimeToLive(), read_schema)]
    assert found == [
        "total value(total bigint) ttl 3600000 ms",
        "values list(value bigint, note string) ttl 3600000 ms",
        "by_parity map(parity string -> count bigint) ttl 3600000 ms",
    ]


class Conditional:
    def init(self, handle: Any) -> None:
        if handle:
            handle.getValueState("total", "total long")


class Computed:
    def init(self, handle: Any) -> None:
        for name in ("a", "b"):
            handle.getValueState(name, "total long")


class Elsewhere:
    def init(self, handle: Any) -> None:
        declare(handle)


class Inherited(Conditional):
    def init(self, handle: Any) -> None:
        super().init(handle)


class Called:
    def init(self, handle: Any) -> None:
        handle.getValueState(str(self), "total long")


def declare(handle: Any) -> None:
    """Declare a variable somewhere else."""
    handle.getValueState("total", "total long")


@pytest.mark.parametrize("kind", [Conditional, Computed, Elsewhere, Inherited, Called])
def test_what_only_a_run_would_show_is_unclear(kind: type) -> None:
    """Nothing is guessed, and nothing is run."""
    with pytest.raises(UnclearError):
        list(state_variables(kind(), read_schema))
