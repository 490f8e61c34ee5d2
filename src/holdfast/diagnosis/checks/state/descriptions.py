"""What describes state, operator metadata and schemas: there, and in the form of its place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.state import provider_of
from holdfast.checkpoint.statefiles import DEFAULT_STORE
from holdfast.findings import Finding, Place, Severity
from holdfast.format.state.schema import StateSchema
from holdfast.redaction import excerpt

_SINCE_40 = "spark.sql.streaming.stateStore.encodingFormat"
_ATOMS = frozenset(
    (
        *("void", "null", "boolean", "byte", "short", "integer", "long", "float", "double"),
        *("string", "binary", "date", "timestamp", "timestamp_ntz", "variant", "interval"),
        "calendar_interval",
    )
)
_SIZED = re.compile(
    r"(decimal|char|varchar|time|geometry|geography)\(.*\)|string collate \w+|interval [a-z ]+"
)
_COLUMN = {"name", "type", "nullable", "metadata"}
_NESTED = (
    {"type", "fields"},
    {"type", "elementType", "containsNull"},
    {"type", "keyType", "valueType", "valueContainsNull"},
)
_ENCODERS = frozenset(
    f"{one}StateEncoderSpec"
    for one in (
        *("NoPrefixKey", "PrefixKeyScan", "RangeKeyScan"),
        *("TimestampAsPrefixKey", "TimestampAsPostfixKey"),
    )
)


def check_operator_recorded(picture: Picture) -> Iterator[Finding]:
    """Report operators with state of Spark 4.0 or later that have no metadata."""
    committed = [one for one in picture.offsets if one in picture.layout.commits.files]
    entry = picture.offsets[max(committed)] if committed else None
    if entry is None or entry.metadata is None or _SINCE_40 not in entry.metadata.settings:
        return
    for operator in picture.layout.state.operators.values():
        unread = operator.metadata is None and not operator.metadata_by_batch
        if unread and any(store.partitions for store in operator.stores.values()):
            path = f"state/{operator.id}/_metadata/metadata"
            message = f"{path} is missing: nothing records what operator {operator.id} is"
            evidence = {"files": [f"state/{operator.id}"]}
            yield Finding("HF2240", Severity.WARNING, message, Place(path), evidence)


def check_schema_recorded(picture: Picture) -> Iterator[Finding]:
    """Report stores with state, in one of Spark's own forms, that have no schema."""
    if provider_of(picture) not in ("hdfs", "rocksdb"):
        return
    for operator in picture.layout.state.operators.values():
        shared = any(store.schema_files for store in operator.stores.values())
        for store in operator.stores.values():
            held = any(files.versions() for files in store.partitions.values())
            if held and not shared and store.partition_schema is None:
                suffix = "" if store.name == DEFAULT_STORE else f"/{store.name}"
                path = f"state/{operator.id}/0{suffix}/_metadata/schema"
                message = f"{path} is missing: nothing records the columns of this state"
                evidence = {"files": [f"state/{operator.id}"]}
                yield Finding("HF2240", Severity.WARNING, message, Place(path), evidence)


def check_description_versions(picture: Picture) -> Iterator[Finding]:
    """Report operator metadata and schemas of a version that Spark keeps at another place."""
    for path, operator in picture.operator_files.items():
        if operator.version != (2 if "/v2/" in path else 1):
            message = f"{path} is of version {operator.version}, which Spark keeps elsewhere"
            yield Finding("HF2223", Severity.FATAL, message, Place(path, line=1))
    for path, schema in picture.schema_files.items():
        if (schema.version == 3) != ("/_stateSchema/" in path):
            message = f"{path} is of version {schema.version}, which Spark keeps elsewhere"
            yield Finding("HF2115", Severity.FATAL, message, Place(path, byte=0))


def check_schema_types(picture: Picture) -> Iterator[Finding]:
    """Report state schemas with columns that no known Spark could have written."""
    for path, schema in picture.schema_files.items():
        strange = next(_strange(schema), None)
        if strange is not None:
            yield Finding("HF2115", Severity.WARNING, f"{path}: {strange}", Place(path))


def _strange(schema: StateSchema) -> Iterator[str]:
    for family in schema.families:
        for text in (family.key_json, family.value_json, family.user_key_json):
            if text is not None:
                yield from _strange_type(json.loads(text))
        encoder = json.loads(family.encoder_json) if family.encoder_json else None
        if encoder is not None and encoder.get("keyStateEncoderType") not in _ENCODERS:
            yield f"no known key encoder of {family.name!r}"


def _strange_type(kind: object) -> Iterator[str]:
    if isinstance(kind, str):
        if kind not in _ATOMS and not _SIZED.fullmatch(kind):
            yield f"no known type is called {excerpt(kind, 40)!r}"
    elif isinstance(kind, dict) and kind.get("type") != "udt":
        if set(kind) not in _NESTED:
            yield f"a type has the fields {', '.join(sorted(kind))}"
        for field in kind.get("fields") or ():
            if set(field) != _COLUMN:
                yield f"a column has the fields {', '.join(sorted(field))}"
            yield from _strange_type(field.get("type"))
        for name in ("elementType", "keyType", "valueType"):
            if name in kind:
                yield from _strange_type(kind[name])
