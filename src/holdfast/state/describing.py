"""Which files describe a store at a batch, and what they leave unknown."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.statefiles import OperatorFiles, StoreFiles
from holdfast.findings import Finding, Place, Severity
from holdfast.format.state.operators import OperatorMetadata
from holdfast.format.state.schema import StateSchema


def operator_metadata(
    picture: Picture, operator: OperatorFiles, batch_id: int
) -> OperatorMetadata | None:
    """Give what an operator said of itself at a batch: the newest file up to it, as Spark takes."""
    batches = sorted(operator.metadata_by_batch)
    newest = [one for one in batches if one <= batch_id][-1:] or batches[:1]
    paths = [operator.metadata_by_batch[one] for one in newest]
    if not paths and operator.metadata is not None:
        paths = [operator.metadata]
    return picture.operator_files.get(paths[0]) if paths else None


def schema_of(
    picture: Picture, store: StoreFiles, metadata: OperatorMetadata | None, batch_id: int
) -> StateSchema | None:
    """Give a store's schema at a batch; None where no file tells it, or it is damaged."""
    path = _schema_path(store, metadata, batch_id)
    return None if path is None else picture.schema_files.get(path)


def schemas_of(picture: Picture, store: StoreFiles) -> Iterator[StateSchema]:
    """Give every schema that a store had, the oldest first."""
    for name in sorted(store.schema_files, key=_batch_of):
        schema = picture.schema_files.get(store.schema_files[name])
        if schema is not None:
            yield schema


def unknown_parts(
    picture: Picture,
    operator: OperatorFiles,
    store: StoreFiles,
    metadata: OperatorMetadata | None,
    schema: StateSchema | None,
) -> tuple[Finding, ...]:
    """Say what the files do not tell of a store."""
    found: list[Finding] = []
    if schema is None:
        found.append(_no_schema(picture, operator, store))
    if metadata is None:
        found.append(_no_metadata(picture, operator))
    return tuple(found)


def _schema_path(store: StoreFiles, metadata: OperatorMetadata | None, batch_id: int) -> str | None:
    """By the file's name: the recorded paths are absolute, and wrong once a checkpoint moved."""
    for info in metadata.stores if metadata is not None else ():
        named = [path.rpartition("/")[2] for path in info.schema_paths]
        if info.name == store.name and named and named[-1] in store.schema_files:
            return store.schema_files[named[-1]]
    names = sorted(store.schema_files, key=_batch_of)
    newest = [one for one in names if _batch_of(one) <= batch_id][-1:] or names[:1]
    return store.schema_files[newest[0]] if newest else store.partition_schema


def _batch_of(schema_file: str) -> int:
    return int(schema_file.partition("_")[0])


def _no_schema(picture: Picture, operator: OperatorFiles, store: StoreFiles) -> Finding:
    damaged = [
        path
        for path in (store.partition_schema, *store.schema_files.values())
        if path is not None and picture.refused(path) is not None
    ]
    reason = f"{damaged[0]} is damaged" if damaged else "there is no schema file"
    return Finding(
        "HF2745",
        Severity.WARNING,
        f"the columns of store {store.name} of operator {operator.id} are not known "
        f"({reason}): keys and values are shown as bytes",
        Place(damaged[0] if damaged else f"state/{operator.id}"),
        {"operator": operator.id, "store": store.name, "damaged": damaged},
    )


def _no_metadata(picture: Picture, operator: OperatorFiles) -> Finding:
    paths = [path for path in (operator.metadata, *operator.metadata_by_batch.values()) if path]
    damaged = [path for path in paths if picture.refused(path) is not None]
    reason = f"{damaged[0]} is damaged" if damaged else "Spark 3.5 and older write no metadata"
    return Finding(
        "HF2746",
        Severity.INFO,
        f"what operator {operator.id} is was not recorded ({reason}): its columns come from the "
        "schema file, its kind and the layout of its keys from the columns' names",
        Place(damaged[0] if damaged else f"state/{operator.id}"),
        {"operator": operator.id, "damaged": damaged},
    )
