"""The dashboard, the alert rules and the scrape configuration fit the metrics that there are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

from holdfast.metrics.families import FAMILIES, JOB_LABELS
from tests.docs.pages import REPOSITORY, blocks

MONITORING = REPOSITORY / "examples/monitoring"
PAGE = REPOSITORY / "docs/how-to/monitor-and-alert.md"
RULES = yaml.safe_load((MONITORING / "holdfast-alerts.yaml").read_text(encoding="utf-8"))
ALERTS: list[dict[str, Any]] = [rule for group in RULES["groups"] for rule in group["rules"]]
DASHBOARD = json.loads((MONITORING / "holdfast-dashboard.json").read_text(encoding="utf-8"))
LABELS = {one.name: {*JOB_LABELS, *one.labels} for one in FAMILIES}
_INTERVALS = {"$__rate_interval": "5m", "$__range": "1h"}


def panel_expressions() -> Iterator[tuple[str, str, str]]:
    """Yield each panel's title, expression and legend."""
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"], target["legendFormat"]


def selectors(expression: str) -> list[tuple[str, set[str]]]:
    """Return each metric that PromQL's parser finds, with the labels that are matched."""
    for name, interval in _INTERVALS.items():
        expression = expression.replace(name, interval)
    promql_parser.parse(expression)
    found = re.findall(r"\b(holdfast_\w+)(?:\{([^}]*)\})?", expression)
    return [(name, set(re.findall(r"(\w+)\s*[=!]", matchers))) for name, matchers in found]


@pytest.mark.parametrize("alert", ALERTS, ids=lambda one: str(one["alert"]))
def test_an_alert_names_metrics_and_labels_that_exist(alert: dict[str, Any]) -> None:
    found = selectors(alert["expr"])
    assert found
    for name, matched in found:
        assert matched <= LABELS[name]
    texts = " ".join(alert["annotations"].values())
    labels = set(re.findall(r"\$labels\.(\w+)", texts))
    assert labels and labels <= set.intersection(*(LABELS[name] for name, _ in found))
    assert {"summary", "description"} == set(alert["annotations"])
    assert alert["labels"]["severity"] in ("warning", "critical")


@pytest.mark.parametrize(("title", "expression", "legend"), [*panel_expressions()])
def test_a_panel_names_metrics_and_labels_that_exist(
    title: str, expression: str, legend: str
) -> None:
    found = selectors(expression)
    assert found, title
    for name, matched in found:
        assert {"project", "job"} <= matched <= LABELS[name]
        assert set(re.findall(r"\{\{(\w+)\}\}", legend)) <= LABELS[name]


def test_an_expression_that_is_not_promql_is_found() -> None:
    with pytest.raises(ValueError, match=r"."):
        selectors("rate(holdfast_rows_total[5m]")


def test_variables_of_the_dashboard_name_labels_that_exist() -> None:
    queries = [one["definition"] for one in DASHBOARD["templating"]["list"] if "definition" in one]
    asked = [re.fullmatch(r"label_values\((holdfast_\w+)(?:\{.*\})?, (\w+)\)", q) for q in queries]
    assert len(asked) == 2
    for one in asked:
        assert one is not None and one[2] in LABELS[one[1]]


def test_panels_have_ids_and_places_of_their_own() -> None:
    panels = DASHBOARD["panels"]
    assert len({one["id"] for one in panels}) == len(panels)
    places = [tuple(one["gridPos"].values()) for one in panels]
    assert len(set(places)) == len(places)
    assert all(one["gridPos"]["x"] + one["gridPos"]["w"] <= 24 for one in panels)


def test_what_matters_most_is_on_the_dashboard() -> None:
    """Each family is, but for those that others say better."""
    shown = {name for _, one, _ in panel_expressions() for name, _ in selectors(one)}
    left_out = set(LABELS) - shown
    assert left_out == {
        "holdfast_job_ended",
        "holdfast_last_commit_age_seconds",
        "holdfast_source_lag_bytes",
        "holdfast_batches_total",
        "holdfast_last_run_batches",
        "holdfast_last_run_skipped_batches",
        "holdfast_last_run_duration_seconds",
        "holdfast_status_timestamp_seconds",
    }


def test_the_page_shows_the_configuration_and_every_alert() -> None:
    text = PAGE.read_text(encoding="utf-8")
    (shown,) = blocks(PAGE, "yaml")
    example = (MONITORING / "prometheus.yml").read_text(encoding="utf-8")
    assert yaml.safe_load(shown) == yaml.safe_load(example)
    assert yaml.safe_load(shown)["rule_files"] == ["holdfast-alerts.yaml"]
    assert re.findall(r"^\| `(Holdfast\w+)`", text, re.MULTILINE) == [
        one["alert"] for one in ALERTS
    ]
    for expression in re.findall(r"^time\(\) - .*$", text, re.MULTILINE):
        assert selectors(expression)[0][1] <= LABELS[selectors(expression)[0][0]]


def test_the_monitoring_files_are_the_ones_that_are_tested() -> None:
    names = {path.name for path in Path(MONITORING).iterdir()}
    assert names == {"holdfast-alerts.yaml", "holdfast-dashboard.json", "prometheus.yml"}
