"""The stateful operators of a checkpoint with their stores, schemas and versions."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.state import partition_count
from holdfast.checkpoint.statefiles import DEFAULT_STORE, OperatorFiles, StoreFiles
from holdfast.errors import DecodeError
from holdfast.format.state.schema import Column, StateSchema, columns


@dataclass(frozen=True)
class Store:
    """One state store, or one state variable or column family inside of it."""

    name: str
    partitions: int
    """Partitions with state on disk."""
    key_schema: tuple[Column, ...] | None
    value_schema: tuple[Column, ...] | None
    """Null where the files tell no schema (stateful queries of Spark 3.5 and older without one)."""
    versions: tuple[int, int] | None
    """The first and the last state version of which files are kept; batch b writes b + 1."""


@dataclass(frozen=True)
class Operator:
    """One stateful operator."""

    id: int
    name: str | None
    """As Spark names it; null where nothing recorded it (Spark 3.5)."""
    stores: tuple[Store, ...]
    partitions: int | None
    """The pinned number of partitions."""


def operators_of(picture: Picture) -> tuple[Operator, ...]:
    """Describe every stateful operator."""
    return tuple(_operator(picture, files) for files in picture.layout.state.operators.values())


def _operator(picture: Picture, files: OperatorFiles) -> Operator:
    metadata = picture.operators.get(files.id)
    stores: list[Store] = []
    for store in files.stores.values():
        schema = picture.schemas.get((files.id, store.name))
        if schema is None or len(schema.families) < 2:
            stores.append(_store(store, store.name, schema, 0))
        else:
            families = range(len(schema.families))
            stores += [_store(store, schema.families[at].name, schema, at) for at in families]
    return Operator(
        files.id,
        metadata.name if metadata is not None else None,
        tuple(stores),
        partition_count(picture, files.id),
    )


def _store(files: StoreFiles, name: str, schema: StateSchema | None, family: int) -> Store:
    versions = {one for part in files.partitions.values() for one in part.versions()}
    return Store(
        name or DEFAULT_STORE,
        len(files.partitions),
        _columns(schema.families[family].key_json) if schema and schema.families else None,
        _columns(schema.families[family].value_json) if schema and schema.families else None,
        (min(versions), max(versions)) if versions else None,
    )


def _columns(schema_json: str) -> tuple[Column, ...] | None:
    try:
        return columns(schema_json)
    except DecodeError:
        return None
