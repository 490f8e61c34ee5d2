"""Profiles: what is laid over a project file, what is refused, and where that stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import ProjectError, UsageError
from holdfast.jobs.discovery import ProjectChoice, load_project
from holdfast.jobs.projectfile.model import Project
from holdfast.jobs.readying import ready_job
from holdfast.jobs.registry import check_remembered, remember_checkpoint, remembered_checkpoint
from holdfast.jobs.target import resolve_target
from holdfast.storage.location import canonical

BASE = """\
project: shop
spark:
  master: local[2]
  conf: {spark.sql.shuffle.partitions: 2, spark.ui.enabled: true}
  jars: [a.jar, b.jar]
jobs:
  orders:
    source: {format: json, path: ./in, schema: id long, options: {maxFilesPerTrigger: 1}}
    sql: select * from source
    sink: {format: delta, path: ./lake/orders}
    trigger: {available_now: true}
    conf: {spark.sql.session.timeZone: UTC}
"""
PROD = """\
profiles:
  prod:
    checkpoints: s3a://prod/checkpoints
    spark:
      master: spark://cluster:7077
      conf: {spark.sql.shuffle.partitions: 64, spark.ui.enabled: null}
      jars: [c.jar]
    storage: {s3: {region: eu-west-1}}
    jobs:
      orders:
        source: {path: s3a://prod/in, options: {maxBytesPerTrigger: 1g}}
        sink: {path: s3a://prod/orders}
        trigger: {processing_time: 10 seconds}
"""


def load(folder: Path, text: str, profile: str | None = None) -> Project:
    file = folder / "holdfast.yaml"
    file.write_text(text)
    return load_project(file, working_folder=folder, profile=profile)


def error_of(folder: Path, text: str, profile: str | None = None) -> ProjectError:
    with pytest.raises(ProjectError) as raised:
        load(folder, text, profile)
    return raised.value


def test_mappings_merge_and_other_values_replace(tmp_path: Path) -> None:
    """Null removes a key, and a trigger is one choice."""
    project = load(tmp_path, BASE + PROD, "prod")
    job = project.jobs["orders"]
    assert job.source is not None
    assert project.spark.master == "spark://cluster:7077"
    assert project.spark.conf == {"spark.sql.shuffle.partitions": "64"}
    assert project.spark.jars == ("c.jar",)
    assert project.storage.s3.region == "eu-west-1"
    assert project.checkpoint_of("orders").url == "s3://prod/checkpoints/orders"
    assert (job.source.format, job.source.path) == ("json", "s3a://prod/in")
    assert job.source.options == {"maxFilesPerTrigger": "1", "maxBytesPerTrigger": "1g"}
    assert (job.sink.format, job.sink.path) == ("delta", "s3a://prod/orders")
    assert (job.trigger.available_now, job.trigger.processing_time) == (None, "10 seconds")
    assert job.conf == {"spark.sql.session.timeZone": "UTC"}
    assert (project.profile, ready_job(project, "orders").profile) == ("prod", "prod")


def test_without_a_profile_the_file_counts_as_it_is(tmp_path: Path) -> None:
    project = load(tmp_path, BASE + PROD)
    assert project.profile is None
    assert project.spark == load(tmp_path, BASE).spark
    assert project.jobs == load(tmp_path, BASE).jobs


def test_a_key_of_the_file_and_of_the_profile_are_located_where_they_stand(tmp_path: Path) -> None:
    project = load(tmp_path, BASE + PROD, "prod")
    assert project.at("jobs", "orders") == "holdfast.yaml:7:3"
    assert project.at("jobs", "orders", "sink", "format") == "holdfast.yaml:10:12"
    assert project.at("jobs", "orders", "sink", "path") == "holdfast.yaml:24:16"
    assert project.at("jobs", "orders", "trigger") == "holdfast.yaml:25:9"


def test_a_file_may_be_whole_with_a_profile_only(tmp_path: Path) -> None:
    text = BASE.replace(", path: ./lake/orders", "") + PROD
    assert load(tmp_path, text, "prod").jobs["orders"].sink.path == "s3a://prod/orders"
    assert error_of(tmp_path, text).code.number == "HF1105"


WRONG: dict[str, tuple[str, str, int, str]] = {
    "unknown key": ("  dev: {sprk: {}}\n", "HF1103", 14, "did you mean spark?"),
    "unknown key of spark": ("  dev: {spark: {mastr: x}}\n", "HF1103", 14, "did you mean master?"),
    "unknown key of a sink": (
        "  dev: {jobs: {orders: {sink: {pth: x}}}}\n",
        "HF1103",
        14,
        "did you mean path?",
    ),
    "a query": ("  dev: {jobs: {orders: {sql: select 1}}}\n", "HF1103", 14, "the same query"),
    "a name": ("  Dev: {}\n", "HF1104", 14, "hyphens"),
    "a list": ("  dev: [spark]\n", "HF1104", 14, "a list"),
    "nothing": ("  dev:\n", "HF1104", 14, "nothing"),
    "a setting of a session": (
        "  dev: {jobs: {orders: {conf: {spark.driver.memory: 1g}}}}\n",
        "HF1110",
        14,
        "spark.conf",
    ),
    "an unknown job": (
        "  dev: {jobs: {order: {conf: {}}}}\n",
        "HF1126",
        14,
        "did you mean orders?",
    ),
    "a path that could move": ("  dev: {checkpoints: '/c/${env:DAY}'}\n", "HF1108", 14, "move"),
    "a rule between keys": (
        "  dev: {jobs: {orders: {source: {format: kafka}}}}\n",
        "HF1104",
        8,
        "with profile dev: jobs.orders.source: a kafka source does not take path",
    ),
    "two places": (
        "  dev: {jobs: {orders: {source: {path: ./lake/orders}}}}\n",
        "HF1112",
        10,
        "with profile dev",
    ),
}


@pytest.mark.parametrize("chosen", [None, "dev", "other"])
@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_told_with_its_line_whichever_profile_is_chosen(
    name: str, chosen: str | None, tmp_path: Path
) -> None:
    lines, code, line, word = WRONG[name]
    error = error_of(tmp_path, BASE + "profiles:\n" + lines + "  other: {}\n", chosen)
    assert (error.code.number, error.at) == (code, f"holdfast.yaml:{line}:{column(error)}")
    assert word in error.message


def column(error: ProjectError) -> str:
    return str(error.at).rpartition(":")[2]


def test_an_unknown_profile_lists_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        load(tmp_path, BASE + PROD + "  dev: {checkpoints: ./dev, jobs: {}}\n", "prd")
    error = raised.value
    assert (error.code.number, error.exit_status) == ("HF1125", 2)
    assert "did you mean prod?" in error.message
    assert "prod, dev" in error.next_steps[0]


def test_a_project_without_profiles_says_that_it_has_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        load(tmp_path, BASE, "prod")
    assert raised.value.message == "the project has no profile prod: it declares no profiles"
    assert raised.value.next_steps == ("leave out --profile and HOLDFAST_PROFILE",)
    assert load(tmp_path, BASE, None).jobs


@pytest.mark.parametrize(
    "sink",
    [
        "sink: {path: ./lake/dev}",
        "sink: {format: console, path: null}",
        "sink: {format: custom, path: null, function: 'pipeline:deliver'}",
    ],
)
def test_one_checkpoint_with_two_sinks_is_refused(sink: str, tmp_path: Path) -> None:
    """Whichever of the two sinks got a batch, the other one would miss it."""
    error = error_of(tmp_path, BASE + f"profiles:\n  dev: {{jobs: {{orders: {{{sink}}}}}}}\n")
    assert (error.code.number, error.at) == ("HF1127", "holdfast.yaml:14:25")
    assert "with profile dev and jobs.orders without a profile" in error.message
    own = f"profiles:\n  dev: {{checkpoints: ./dev, jobs: {{orders: {{{sink}}}}}}}\n"
    assert load(tmp_path, BASE + own, "dev").checkpoint_of("orders").url.endswith("/dev/orders")


def test_two_profiles_may_share_a_checkpoint_and_its_sink(tmp_path: Path) -> None:
    """They differ in their Spark, or in how they spell the one place."""
    near = "  near: {spark: {master: 'local[1]'}}\n"
    spelled = "  spelled: {jobs: {orders: {sink: {path: lake/x/../orders/}}}}\n"
    assert load(tmp_path, BASE + "profiles:\n" + near + spelled, "near").profile == "near"


def test_two_custom_functions_are_two_sinks(tmp_path: Path) -> None:
    base = BASE.replace("{format: delta, path: ./lake/orders}", "{format: custom, function: 'a:b'}")
    over = "profiles:\n  dev: {jobs: {orders: {sink: {function: 'a:c'}}}}\n"
    assert error_of(tmp_path, base + over).code.number == "HF1127"


def test_an_adopted_checkpoint_is_of_one_profile(tmp_path: Path) -> None:
    """Null gives the job its place below `checkpoints:` again."""
    base = BASE + "    checkpoint: /old/place\n"
    sink = "sink: {path: ./lake/dev}"
    assert error_of(tmp_path, f"{base}profiles:\n  dev: {{jobs: {{orders: {{{sink}}}}}}}\n")
    over = f"profiles:\n  dev: {{jobs: {{orders: {{{sink}, checkpoint: null}}}}}}\n"
    project = load(tmp_path, base + over, "dev")
    assert project.checkpoint_of("orders").url == str(tmp_path / "checkpoints" / "orders")


def test_places_are_remembered_for_each_profile(tmp_path: Path) -> None:
    """So that dev and prod do not refuse each other; each is still held to its own place."""
    for profile in (None, "prod"):
        job = ready_job(load(tmp_path, BASE + PROD, profile), "orders")
        check_remembered(job)
        remember_checkpoint(tmp_path, "orders", canonical(job.checkpoint), profile)
    assert remembered_checkpoint(tmp_path, "orders", "prod") == "s3://prod/checkpoints/orders"
    assert str(remembered_checkpoint(tmp_path, "orders")).endswith("/checkpoints/orders")
    moved = load(tmp_path, BASE + PROD.replace("//prod/checkpoints", "//other/place"), "prod")
    with pytest.raises(ProjectError, match="was at s3://prod/checkpoints/orders"):
        check_remembered(ready_job(moved, "orders"))


def test_the_environment_chooses_where_the_caller_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An explicit profile wins, and an empty one means none."""
    load(tmp_path, BASE + PROD)
    monkeypatch.setenv("HOLDFAST_PROFILE", "prod")
    chosen = [ProjectChoice.of(None, one).profile for one in (None, "", "dev")]
    assert chosen == ["prod", None, "dev"]
    found = resolve_target("orders", project=ProjectChoice.of(None), working_folder=tmp_path)
    assert found.location.url == "s3://prod/checkpoints/orders"
    monkeypatch.setenv("HOLDFAST_PROFILE", "")
    assert ProjectChoice.of(None) == ProjectChoice()


def test_a_profile_for_a_path_is_checked_against_the_project(tmp_path: Path) -> None:
    """It is never ignored where somebody typed it; the environment's is, where none is needed."""
    (tmp_path / "here").mkdir()
    typed = ProjectChoice.of(None, "prod")
    with pytest.raises(UsageError) as raised:
        resolve_target("./here", project=typed, working_folder=tmp_path)
    assert raised.value.code.number == "HF1125"
    load(tmp_path, BASE + PROD)
    found = resolve_target("./here", project=typed, working_folder=tmp_path)
    assert found.project is not None
    set_by_environment = ProjectChoice(profile="none-such")
    assert resolve_target("./here", project=set_by_environment, working_folder=tmp_path)
