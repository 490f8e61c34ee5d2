"""`state/<operator>/_metadata/`: what a stateful operator is and which stores it keeps; v1, v2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.errors import DecodeError
from holdfast.format.logs.log import decode_text, decode_version
from holdfast.format.strictjson import INT32, Fields, decode_object, encode_json

OPERATOR_VERSIONS: Mapping[int, str] = {1: "Spark 4.0 and later", 2: "Spark 4.0 and later"}

_WHAT = "operator metadata"


@dataclass(frozen=True)
class StoreInfo:
    """One state store of an operator."""

    name: str
    prefix_columns: int
    partitions: int
    """As written at first: an offline repartition leaves the old number."""
    schema_paths: tuple[str, ...] = ()
    """v2 only: absolute URIs of the schema files, the oldest first."""
    extra: Mapping[str, object] = field(default_factory=dict)
    single_path: bool = False
    """Whether the one path stands alone, not in a list, as a preview of Spark 4.0 wrote it."""


@dataclass(frozen=True)
class OperatorMetadata:
    """One stateful operator."""

    version: int
    id: int
    name: str
    stores: tuple[StoreInfo, ...]
    properties: Mapping[str, object] | None = None
    """v2 only: what the operator says of itself; None where it says nothing."""
    extra: Mapping[str, object] = field(default_factory=dict)
    info_extra: Mapping[str, object] = field(default_factory=dict)
    """What a later Spark adds beside the operator's id and name."""


def decode_operator(data: bytes) -> OperatorMetadata:
    """Decode the bytes of `_metadata/metadata` (v1) or `_metadata/v2/<batch>` (v2)."""
    first, newline, text = decode_text(data, _WHAT).partition("\n")
    version = decode_version(first, known=OPERATOR_VERSIONS, what=_WHAT)
    if not newline:
        message = f"{_WHAT}: it ends after the version line"
        raise DecodeError("HF2106", message, line=2, byte=len(data))
    fields = Fields.of(text, what=_WHAT, line=2, byte=len(first) + 1)
    info = fields.inner("operatorInfo", fields.take_object("operatorInfo"))
    stores = enumerate(fields.take_list("stateStoreInfo"))
    return OperatorMetadata(
        version,
        id=info.take_integer("operatorId"),
        name=info.take_text("operatorName"),
        stores=tuple(_store(version, fields.inner(f"store {i}", one)) for i, one in stores),
        properties=_properties(fields) if version == 2 else None,
        extra=fields.rest(),
        info_extra=info.rest(),
    )


def encode_operator(entry: OperatorMetadata) -> bytes:
    """Encode the bytes of an operator's metadata."""
    fields: dict[str, object] = {
        "operatorInfo": {
            "operatorId": entry.id,
            "operatorName": entry.name,
            **entry.info_extra,
        },
        "stateStoreInfo": [_store_fields(entry.version, store) for store in entry.stores],
    }
    if entry.version == 2:
        properties = entry.properties
        fields["operatorPropertiesJson"] = "" if properties is None else encode_json(properties)
    return f"v{entry.version}\n{encode_json({**fields, **entry.extra})}".encode()


def _store(version: int, fields: Fields) -> StoreInfo:
    single = version == 2 and "stateSchemaFilePath" in fields.left
    paths: tuple[str, ...] = ()
    if single:
        paths = (fields.take_text("stateSchemaFilePath"),)
    elif version == 2:
        paths = _paths(fields)
    return StoreInfo(
        name=fields.take_text("storeName"),
        prefix_columns=fields.take_integer("numColsPrefixKey", bounds=INT32),
        partitions=fields.take_integer("numPartitions", bounds=INT32),
        schema_paths=paths,
        extra=fields.rest(),
        single_path=single,
    )


def _paths(fields: Fields) -> tuple[str, ...]:
    paths: list[str] = []
    for path in fields.take_list("stateSchemaFilePaths"):
        if not isinstance(path, str):
            raise fields.wrong("a path in stateSchemaFilePaths", "a string", path)
        paths.append(path)
    return tuple(paths)


def _store_fields(version: int, store: StoreInfo) -> dict[str, object]:
    fields: dict[str, object] = {
        "storeName": store.name,
        "numColsPrefixKey": store.prefix_columns,
        "numPartitions": store.partitions,
    }
    if store.single_path:
        fields["stateSchemaFilePath"] = store.schema_paths[0]
    elif version == 2:
        fields["stateSchemaFilePaths"] = store.schema_paths
    return {**fields, **store.extra}


def _properties(fields: Fields) -> Mapping[str, object] | None:
    text = fields.take_text("operatorPropertiesJson")
    if not text:
        return None
    what = f"{_WHAT}, operatorPropertiesJson"
    try:
        return decode_object(text, what=what, line=fields.line)
    except DecodeError as error:
        # The text stands escaped inside of other JSON: only where that begins is known.
        raise DecodeError(
            error.code.number,
            error.message,
            line=fields.line,
            byte=fields.byte,
            overlooked=error.overlooked,
        ) from error
