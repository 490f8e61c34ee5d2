"""HF102x metrics."""

from __future__ import annotations

from holdfast.codes.code import Code
from holdfast.installing import pip_line

METRICS_CODES: tuple[Code, ...] = (
    Code(
        "HF1021",
        "prometheus_client is not installed",
        "`run --metrics-port` and `status --metrics` use it; everything else works without it",
        (pip_line("metrics"),),
        exit_status=2,
    ),
    Code(
        "HF1022",
        "the metrics port cannot be opened",
        "no job was started: a run that you rely on metrics for would run unwatched",
        (
            "choose another port with --metrics-port N, or --metrics-port 0 for any free port",
            "if --metrics-host is given: use an address of this machine",
        ),
        exit_status=2,
    ),
    Code(
        "HF1023",
        "the metrics file cannot be written",
        "nothing was written; only an earlier metrics file of Holdfast is ever replaced",
        (
            "give a file whose name ends in .prom, in the directory that the node exporter reads "
            "(--collector.textfile.directory)",
        ),
        exit_status=2,
    ),
)
