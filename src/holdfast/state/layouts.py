"""What a store's keys and values are, by the files that describe it, and how Spark shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.statefiles import OperatorFiles, StoreFiles
from holdfast.findings import Finding, Place, Severity
from holdfast.format.state.operators import OperatorMetadata
from holdfast.format.state.schema import ColumnFamilySchema, StateSchema, columns
from holdfast.format.strictjson import encode_json


def operator_metadata(
    picture: Picture, operator: OperatorFiles, batch_id: int
) -> OperatorMetadata | None:
    """Return the metadata of an operator at a batch: the newest file up to it, as Spark does."""
    batches = sorted(operator.metadata_by_batch)
    newest = [one for one in batches if one <= batch_id][-1:] or batches[:1]
    paths = [operator.metadata_by_batch[one] for one in newest]
    if not paths and operator.metadata is not None:
        paths = [operator.metadata]
    return picture.operator_files.get(paths[0]) if paths else None


def schema_of(
    picture: Picture, store: StoreFiles, metadata: OperatorMetadata | None, batch_id: int
) -> StateSchema | None:
    """Return a store's schema at a batch; None where no file tells it, or it is damaged."""
    path = _schema_path(store, metadata, batch_id)
    return None if path is None else picture.schema_files.get(path)


def schemas_of(picture: Picture, store: StoreFiles) -> Iterator[StateSchema]:
    """Yield every schema that a store had, the oldest first."""
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
        f"the columns of store {store.name} of operator {operator.id} are unknown ({reason}): "
        "keys and values are shown as bytes",
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
        f"the kind of operator {operator.id} was not recorded ({reason}): its columns come from "
        "the schema file, its kind and key layout from the column names",
        Place(damaged[0] if damaged else f"state/{operator.id}"),
        {"operator": operator.id, "damaged": damaged},
    )


TIMERS = "timers"
"""The name by which the timers of a transformWithState are asked for."""

_JOIN_POSITION_COLUMNS = ("index", "__event_time")
_SESSION_START = "sessionStartTime"
_LIST_COUNTER = "$rowCounter_"
_EXPIRY_INDEX = "$ttl_"
_TIMERS_BY_KEY = ("$procTimers_keyToTimestamp", "$eventTimers_keyToTimestamp")
_BY_TIME = "TimestampAs"
"""Begins the name of the encoders of join format 4, where all values are lists."""
_NO_PREFIX = '{"keyStateEncoderType":"NoPrefixKeyStateEncoderSpec"}'


class Shown(str, Enum):
    """What a row that is shown stands for."""

    VALUE = "value"
    """One key with its value."""
    LIST = "list"
    """One element of a key's list, in the list's order."""
    MAP = "map"
    """One entry of a key's map."""
    TIMER = "timer"
    """One timer of a key."""


@dataclass(frozen=True)
class StoreLayout:
    """One store, or one column family inside of it, as it is asked for and shown."""

    operator_id: int
    operator_name: str | None
    """As Spark names it; None where nothing recorded it (Spark 3.5)."""
    store: str
    """The name of the store whose files hold it."""
    name: str
    """The name to ask for: of the store, the column family or the state variable."""
    family: str | None
    """The column family, None where the store has none."""
    key_json: str | None
    value_json: str | None
    """Spark's JSON of the struct; None where no schema file tells it: only bytes can be shown."""
    encoder_json: str
    """How RocksDB's keys are laid out, in Spark's own JSON."""
    shown: Shown = Shown.VALUE
    has_ttl: bool = False
    """Values are wrapped with the time at which they expire."""
    placed_by: int | None = None
    """So many of the leading key columns decide the partition; None where they are nested."""
    internal: bool = False
    """Bookkeeping of Spark's: counters, indexes of timers and of times to live."""
    key_versions: Mapping[int, str] = field(default_factory=dict)
    value_versions: Mapping[int, str] = field(default_factory=dict)
    """Schema id to JSON, for rows that an earlier run wrote in Avro."""
    findings: tuple[Finding, ...] = ()
    """What can't be known of this store, and why."""

    @property
    def multi_value(self) -> bool:
        """One key's bytes hold several values."""
        return self.shown is Shown.LIST or _BY_TIME in self.encoder_json

    @property
    def nested_key(self) -> bool:
        """The grouping key is the field `key` of the stored key."""
        return self.shown in (Shown.MAP, Shown.TIMER)


def layouts_of(picture: Picture, operator_id: int, batch_id: int) -> tuple[StoreLayout, ...]:
    """Describe every store of an operator as it was at a batch, those of Spark's own use last."""
    operator = picture.layout.state.operators[operator_id]
    metadata = operator_metadata(picture, operator, batch_id)
    found: list[StoreLayout] = []
    for store in operator.stores.values():
        schema = schema_of(picture, store, metadata, batch_id)
        notes = unknown_parts(picture, operator, store, metadata, schema)
        if schema is not None and schema.version == 3:
            found += _families(picture, operator, store, metadata, schema, notes)
        else:
            found.append(_single(operator, store, metadata, schema, notes))
    return tuple(sorted(found, key=lambda layout: (layout.internal, _counts(layout))))


def _counts(layout: StoreLayout) -> bool:
    """A join's counters come after the rows that they count."""
    return layout.name.endswith(("-keyToNumValues", "-tsWithKey"))


def _single(
    operator: OperatorFiles,
    store: StoreFiles,
    metadata: OperatorMetadata | None,
    schema: StateSchema | None,
    findings: tuple[Finding, ...],
) -> StoreLayout:
    family = schema.families[0] if schema is not None and schema.families else None
    names = _names(family.key_json) if family is not None else ()
    prefix = _prefix_columns(store, metadata, names)
    spec = {"keyStateEncoderType": "PrefixKeyScanStateEncoderSpec", "numColsPrefixKey": prefix}
    return StoreLayout(
        operator_id=operator.id,
        operator_name=None if metadata is None else metadata.name,
        store=store.name,
        name=store.name,
        family=None,
        key_json=None if family is None else family.key_json,
        value_json=None if family is None else family.value_json,
        encoder_json=encode_json(spec) if prefix else _NO_PREFIX,
        placed_by=_placed_by(names) if family is not None else None,
        findings=findings,
    )


def _families(
    picture: Picture,
    operator: OperatorFiles,
    store: StoreFiles,
    metadata: OperatorMetadata | None,
    schema: StateSchema,
    findings: tuple[Finding, ...],
) -> list[StoreLayout]:
    present = {family.name for family in schema.families}
    older = [one for file in schemas_of(picture, store) for one in file.families]
    return [
        StoreLayout(
            operator_id=operator.id,
            operator_name=None if metadata is None else metadata.name,
            store=store.name,
            name=TIMERS if family.name in _TIMERS_BY_KEY else family.name,
            family=family.name,
            key_json=family.key_json,
            value_json=family.value_json,
            encoder_json=family.encoder_json or _NO_PREFIX,
            shown=_shown(family, present),
            has_ttl=f"{_EXPIRY_INDEX}{family.name}" in present,
            placed_by=_family_placed_by(family, present),
            internal=family.name.startswith("$") and family.name not in _TIMERS_BY_KEY,
            key_versions={o.key_schema_id: o.key_json for o in older if o.name == family.name},
            value_versions={
                o.value_schema_id: o.value_json for o in older if o.name == family.name
            },
            findings=findings,
        )
        for family in schema.families
    ]


def _shown(family: ColumnFamilySchema, present: set[str]) -> Shown:
    if family.name in _TIMERS_BY_KEY:
        return Shown.TIMER
    if family.user_key_json is not None:
        return Shown.MAP
    return Shown.LIST if f"{_LIST_COUNTER}{family.name}" in present else Shown.VALUE


def _prefix_columns(
    store: StoreFiles, metadata: OperatorMetadata | None, names: tuple[str, ...]
) -> int:
    """Spark 3.5 records no number; its session windows alone have a prefix: all but their start."""
    for info in metadata.stores if metadata is not None else ():
        if info.name == store.name:
            return info.prefix_columns
    return len(names) - 1 if names[-1:] == (_SESSION_START,) else 0


def _family_placed_by(family: ColumnFamilySchema, present: set[str]) -> int | None:
    nested = _shown(family, present) in (Shown.MAP, Shown.TIMER)
    names = _names(family.key_json)
    if nested or family.name.startswith(_EXPIRY_INDEX) or names[:1] == ("expiryTimestampMs",):
        return None
    return _placed_by(names)


def _placed_by(names: tuple[str, ...]) -> int:
    """All key columns, without those that tell the rows of one key apart."""
    last = names[-1:]
    apart = last == (_SESSION_START,) or (last and last[0] in _JOIN_POSITION_COLUMNS)
    return len(names) - 1 if apart and len(names) > 1 else len(names)


def _names(schema_json: str) -> tuple[str, ...]:
    return tuple(column.name for column in columns(schema_json))
