"""Paths that look as if they changed from start to start, and those that don't."""

from __future__ import annotations

import datetime
import tempfile
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ProjectError, UsageError
from holdfast.jobs.checkpointpath import accept_changing, looks_changing

CHANGING: dict[str, tuple[str, ...]] = {
    "a date": (
        "/c/orders-2026-11-16",
        "/c/2026/11/16/orders",
        "s3://lake/c/20261116/orders",
        "/c/orders_2026_11_16",
        "/c/day=2026-11-16",
        "/c/orders.2026.11.16",
        "/c/20261116T050000",
        "/c/20261116050000",
        "/c/year=2026/month=11/day=16",
        "2026-11-16",
    ),
    "a timestamp in seconds": ("/c/orders-1763269200", "/c/1763269200123", "s3a://b/1763269200"),
    "a UUID": (
        "/c/7b0dd1a2-9a3c-4c7e-9f5b-0d5b2f6c1a11",
        "/c/temporary-7B0DD1A2-9A3C-4C7E-9F5B-0D5B2F6C1A11/x",
    ),
    "a run id": (
        "/c/application_1763269200123_0042",
        "/c/app-20261116050000-0001/x",
        "/c/run-1234abcd",
        "/c/run_id=884512",
        "/c/spark-3fa91c02d4",
        "/c/local-1763269200123",
    ),
    "a digest": ("/c/9e107d9d372bb6826bd81d3542a419d6", "/c/" + "0a" * 20),
    "a temporary directory": (
        "/tmp/orders",
        "/tmp",
        "file:/tmp/orders",
        "file:///var/tmp/../tmp/orders",
        "/dev/shm/c",
        "hdfs://nn:8020/tmp/c",
        "dbfs:/tmp/c",
        "${TMPDIR}/c",
        "$TMPDIR/c",
        tempfile.gettempdir() + "/x",
    ),
}

FIXED = (
    "./checkpoints/orders",
    "/c/v2",
    "/c/orders2",
    "/c/orders-2024",
    "/c/2024",
    "/c/2024/orders",
    "/c/run-7",
    "/c/run-2024",
    "/c/run-orders",
    "/c/spark-decade",
    "/c/spark-3.5",
    "/c/part-00000",
    "/c/tmp/orders",
    "/c/template",
    "/tmpfs/orders",
    "s3://bucket-2026-11-16/c",
    "s3://data-7b0dd1a2-9a3c-4c7e-9f5b-0d5b2f6c1a11/c",
    "s3://bucket/tmp/c",
    "/c/account-123456789012/x",
    "/c/99999999/x",
    "/c/20261399/x",
    "/c/12345678901/x",
    "/c/feedface/x",
    "/c/application/app-7",
    "abfss://c@account20240101.dfs.core.windows.net/orders",
    "hdfs://nn-20260101:8020/c/orders",
)


@pytest.mark.parametrize(
    ("reason", "path"), [(why, path) for why, paths in CHANGING.items() for path in paths]
)
def test_it_looks_changing(reason: str, path: str) -> None:
    assert reason in (looks_changing(path) or "")


@pytest.mark.parametrize("path", FIXED)
def test_it_looks_fixed(path: str) -> None:
    assert looks_changing(path) is None


NAMES = st.from_regex(r"[a-z]{1,8}(-[a-z0-9]{1,4}){0,2}", fullmatch=True)


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_names_that_people_give_are_fixed(parts: list[str]) -> None:
    assert looks_changing("/data/" + "/".join(parts)) is None


@given(
    st.dates(datetime.date(1990, 1, 1), datetime.date(2099, 12, 31)),
    st.sampled_from(["%Y-%m-%d", "%Y%m%d", "%Y_%m_%d", "%Y/%m/%d", "%Y-%m-%dT%H-%M-%S"]),
    NAMES,
)
def test_every_date_is_seen(date: datetime.date, form: str, name: str) -> None:
    assert looks_changing(f"/data/{name}/{date.strftime(form)}") is not None
    if "/" not in form:
        assert looks_changing(f"/data/{name}-{date.strftime(form)}") is not None


@given(st.uuids(), NAMES)
def test_every_uuid_is_seen(one: uuid.UUID, name: str) -> None:
    assert looks_changing(f"/data/{name}/{one}") is not None
    assert looks_changing(f"s3://lake/{name}-{one}/x") is not None


@given(st.datetimes(datetime.datetime(2002, 1, 1), datetime.datetime(2033, 1, 1)))
def test_every_moment_is_seen(moment: datetime.datetime) -> None:
    seconds = int(moment.replace(tzinfo=datetime.timezone.utc).timestamp())
    assert looks_changing(f"/data/c-{seconds}") is not None
    assert looks_changing(f"/data/c-{seconds}123") is not None


def test_with_somebody_to_read_it_is_a_warning() -> None:
    warning = accept_changing("/c/2026-11-16", (), interactive=True)
    assert warning is not None
    assert "a date (2026-11-16)" in warning
    assert "dated-path" in warning


def test_without_anybody_it_is_an_error() -> None:
    with pytest.raises(ProjectError, match="a date") as raised:
        accept_changing("/c/2026-11-16", (), interactive=False)
    assert raised.value.code.number == "HF1115"
    assert "dated-path" in raised.value.next_steps[0]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/c/2026-11-16", "dated-path"),
        ("/tmp/c", "temporary-path"),
        ("/c/run-1234abcd", "generated-path"),
    ],
)
def test_it_is_accepted_by_its_name_alone(path: str, name: str) -> None:
    assert accept_changing(path, (name,), interactive=False) is None
    others = {"dated-path", "temporary-path", "generated-path"} - {name}
    with pytest.raises(ProjectError):
        accept_changing(path, others, interactive=False)


def test_every_sign_has_to_be_accepted() -> None:
    with pytest.raises(ProjectError, match="a date"):
        accept_changing("/tmp/2026-11-16", ("temporary-path",), interactive=False)


def test_a_fixed_path_needs_nothing() -> None:
    assert accept_changing("/c/orders", (), interactive=False) is None


def test_an_unknown_name_is_told() -> None:
    with pytest.raises(UsageError, match="did you mean dated-path") as raised:
        accept_changing("/c/orders", ("date-path",), interactive=True)
    assert raised.value.code.number == "HF1001"
