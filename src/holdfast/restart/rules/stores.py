"""Schemas of state stores against what the query would write: types, number and nulls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.checkpoint.operators import Store
from holdfast.records.facts import ColumnFacts, OperatorFacts, StoreFacts
from holdfast.restart.rules.operators import (
    ENCODING,
    STATE_FORMAT,
    keeps_variables,
    subject_of,
)
from holdfast.restart.rules.rule import on_plan
from holdfast.restart.start import StartFacts
from holdfast.restart.verdict import Change, Verdict

KEYS = "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE"
VALUES = "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE"

Columns = tuple[ColumnFacts, ...]
_Both = tuple[OperatorFacts, str, Columns, Columns]


@on_plan("HF3111")
def key_types(start: StartFacts) -> Iterator[Change]:
    """Refuse another number or other types of key columns."""
    for operator, store, before, now in _stores(start, "keys"):
        if _types(before) != _types(now):
            yield _refused("HF3111", f"key columns of {store}", operator, before, now, KEYS)


@on_plan("HF3112")
def value_types(start: StartFacts) -> Iterator[Change]:
    """Refuse another number or other types of value columns; Avro lets some of them change."""
    for operator, store, before, now in _stores(start, "values"):
        if _types(before) == _types(now):
            continue
        if keeps_variables(operator) and start.inspection.settings.get(ENCODING) == "avro":
            why = "Spark reads old rows with the new schema where Avro allows it, and else stops"
            condition = "only nullable fields were added, or types widened as Avro allows"
            subject = f"value columns of {store} of {subject_of(operator)}"
            old, new = _shown(before), _shown(now)
            yield Change("HF3112", Verdict.CONDITIONAL, subject, old, new, why, condition)
        else:
            yield _refused("HF3112", f"value columns of {store}", operator, before, now, VALUES)


@on_plan("HF3113")
def nullability(start: StartFacts) -> Iterator[Change]:
    """Judge columns of the state that may now be null, or may not be any more.

    Releases differ in what they call nullable, and keep to what the checkpoint pins.
    """
    if start.pair is not None and start.pair.is_other_release:
        return
    for part, error in (("keys", KEYS), ("values", VALUES)):
        for operator, store, before, now in _stores(start, part):
            if _types(before) != _types(now):
                continue
            for then, after in zip(before, now, strict=True):
                if then.nullable != after.nullable:
                    yield _other_nulls(operator, store, then, after, error)


@on_plan("HF3123")
def state_variables(start: StartFacts) -> Iterator[Change]:
    """Judge state variables that are added or gone."""
    for operator, before in _stored(start):
        if not keeps_variables(operator) or not before or not operator.stores:
            continue
        now = {one.name for one in operator.stores}
        for name in sorted(now - before.keys()):
            subject = f"state variable {name} of {subject_of(operator)}"
            why = "it begins empty for every key"
            yield Change("HF3123", Verdict.SAFE, subject, None, name, why)
        for name in sorted(before.keys() - now):
            subject = f"state variable {name} of {subject_of(operator)}"
            why = "its values stay in the state, and nothing reads them: a new name begins empty"
            condition = f"the values of {name} are no longer needed"
            yield Change("HF3123", Verdict.CONDITIONAL, subject, name, None, why, condition)


def _other_nulls(
    operator: OperatorFacts, store: str, then: ColumnFacts, after: ColumnFacts, error: str
) -> Change:
    subject = f"{then.name} in {store} of {subject_of(operator)}"
    old, new = (f"{one.type}{'' if one.nullable else ' not null'}" for one in (then, after))
    if after.nullable:
        why = "Spark refuses state that was stored as not null where the query may bring nulls"
        return Change("HF3113", Verdict.UNSAFE, subject, old, new, why, error=error)
    why = "Spark accepts it, and fails with a NullPointerException once it meets a stored null"
    condition = f"no row of the state has a null in {then.name}: holdfast state shows them"
    return Change("HF3113", Verdict.CONDITIONAL, subject, old, new, why, condition)


def _refused(
    code: str, what: str, operator: OperatorFacts, before: Columns, now: Columns, error: str
) -> Change:
    why = f"Spark compares the schema with the stored one and stops with {error}"
    subject = f"{what} of {subject_of(operator)}"
    return Change(code, Verdict.UNSAFE, subject, _shown(before), _shown(now), why, error=error)


def _stores(start: StartFacts, part: str) -> Iterator[_Both]:
    """Yield the columns of each store that both sides know, the stored ones first."""
    for operator, before in _stored(start):
        for store in operator.stores:
            then = before.get(store.name)
            if then is None and len(before) == len(operator.stores) == 1:
                then = next(iter(before.values()))
            if then is None:
                continue
            old: Columns = getattr(then, part)
            new: Columns = getattr(store, part)
            if (old and new) or (then.keys and store.keys and then.values and store.values):
                yield operator, store.name, old, new


def _stored(start: StartFacts) -> Iterator[tuple[OperatorFacts, Mapping[str, StoreFacts]]]:
    """Yield each planned operator with the stores of the last run, else those of the checkpoint."""
    if start.current is None or (start.pair is None and not start.lacks_history):
        return
    before = start.pair.before.operators if start.pair is not None else None
    recorded = {one.operator_id: one for one in before or ()}
    for operator in start.current.operators or ():
        last = recorded.get(operator.operator_id)
        if last is not None and last.settings.get(STATE_FORMAT) != operator.settings.get(
            STATE_FORMAT
        ):
            continue  # planned with another format than the one that the checkpoint pins
        if last is not None and last.name == operator.name and last.stores:
            yield operator, {one.name: one for one in last.stores}
        elif last is None or last.name == operator.name:
            yield operator, _read(start, operator)


def _read(start: StartFacts, operator: OperatorFacts) -> Mapping[str, StoreFacts]:
    """Return the stores of an operator that the checkpoint has the schemas of."""
    return {
        store.name: _facts(store)
        for found in start.inspection.operators
        if found.id == operator.operator_id and found.name in (None, operator.name)
        for store in found.stores
        if store.key_schema is not None and store.value_schema is not None
    }


def _facts(store: Store) -> StoreFacts:
    key, value = (
        tuple(ColumnFacts(one.name, one.type_text, one.nullable) for one in schema or ())
        for schema in (store.key_schema, store.value_schema)
    )
    return StoreFacts(store.name, key, value)


def _types(columns: Columns) -> tuple[str, ...]:
    return tuple(one.type.replace(" ", "").lower() for one in columns)


def _shown(columns: Columns) -> str:
    return ", ".join(f"{one.name} {one.type}" for one in columns) or "none"
