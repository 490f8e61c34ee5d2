"""What each key of the project file means, and an example; a test compares it with the models."""

from __future__ import annotations

EXAMPLE = """\
project: sensors
checkpoints: s3a://lake/checkpoints
storage:
  s3:
    endpoint: https://s3.example.com:9000
    path_style: true
    key: ${env:KEY}
    secret: ${env:SECRET}
jobs:
  sensor-raw-ingest:
    source: {format: kafka, options: {kafka.bootstrap.servers: "broker:9092", subscribe: sensors}}
    sql: select * from source
    sink: {format: delta, path: ./lake/raw}
  sensor-merge-gold:
    source: {format: delta, path: ./lake/raw}
    transform: pipeline:gold
    sink:
      format: postgres
      url: ${env:GOLD_URL}
      table: gold
      mode: upsert
      key: [sensor_id, read_at]
    trigger: {processing_time: 10 seconds}
"""

KEYS: dict[str, dict[str, str]] = {
    "Project": {
        "project": "project name: lowercase letters, digits and hyphens",
        "checkpoints": "directory or URL that contains the checkpoint of each job; default "
        "`./checkpoints`",
        "spark": "how Spark is started, see [spark](#spark)",
        "storage": "storage endpoints and credentials, see [storage](#storage)",
        "jobs": "the jobs by name, see [a job](#a-job)",
        "profiles": "what differs between environments, by name, see [a profile](#a-profile)",
    },
    "Spark": {
        "master": "Spark's master; default `local[*]`",
        "conf": "Spark settings; numbers and booleans are converted to strings",
        "jars": "additional jars, besides those that the jobs need",
    },
    "Storage": {
        "s3": "[options](storage.md#options-s3)",
        "hdfs": "[options](storage.md#options-hdfs)",
        "gcs": "[options](storage.md#options-gcs)",
        "azure": "[options](storage.md#options-azure)",
    },
    "Job": {
        "source": "single source, see [a source](#a-source)",
        "sources": "several sources by name, instead of `source`",
        "transform": "`module:function` in the project directory; takes DataFrames, returns "
        "a DataFrame",
        "sql": "SQL query instead of a function, with one view per source",
        "sink": "where the rows go, see [a sink](#a-sink)",
        "output_mode": "Spark's output mode; default: the one that fits the mode of the sink",
        "trigger": "when a batch starts, see [a trigger](#a-trigger); default available-now",
        "conf": "Spark settings for this job alone",
        "checkpoint": "only to adopt an existing checkpoint at another location",
        "protect": "`true` forbids `plan reset` and `plan replay` without `--force-protected`; "
        "default `false`",
        "restart": "how `run --keep-running` restarts the job, see [a restart](#a-restart)",
        "on_failure": "what to call when the job has failed for good, see [on "
        "failure](#on-failure)",
        "backup": "how often `run` backs the checkpoint up, see [a backup](#a-backup); default: "
        "never",
    },
    "Backup": {
        "every": "the time between two backups, such as `1 hour`",
        "keep": "how many backups are kept; default `24`",
    },
    "Restart": {
        "limit": "restarts in a row without a committed batch in between; default `10`",
        "backoff": "the first delay, doubled with each further restart up to 5 minutes; default "
        "`5 seconds`",
    },
    "OnFailure": {
        "command": "a program with its arguments, run without a shell in the project directory; it "
        "gets the JSON document on standard input",
        "webhook": "a URL that gets the JSON document in a POST; always a secret",
    },
    "Source": {
        "format": "any format that Spark can stream",
        "path": "directory or table, for formats that take one",
        "schema": "columns in DDL syntax, such as `id string, at timestamp`",
        "options": "options of the reader",
    },
    "Sink": {
        "native": "`true`: Spark's own sink of this format writes, under Holdfast's lease, guards "
        "and records, with what that sink promises",
        "format": "kind of sink; with `native`, any that Spark can load",
        "mode": "how a batch is written; default `append`",
        "key": "columns that identify a row, for `upsert`",
        "order_by": "column that decides which row wins if a batch has several with the same key",
        "batch_column": "for databases in mode append: column that stores the batch id",
        "path": "directory or table, for Delta and files",
        "url": "URL of the database",
        "table": "the table in the database; with `native`, the name of a catalog table in place "
        "of `path`",
        "function": "`module:function` of a custom sink",
        "partition_by": "columns to partition the output by",
        "options": "options of the writer",
    },
    "Profile": {
        "checkpoints": "replaces `checkpoints`",
        "spark": "merged into `spark`",
        "storage": "merged into `storage`",
        "jobs": "merged into the jobs, by name: every key except `transform`, `sql` and "
        "`output_mode`",
    },
    "Trigger": {
        "available_now": "`true`: process the available data, then end; `availableNow` and "
        "`once` mean "
        "the same",
        "processing_time": "an interval such as `10 seconds`: start a batch at this interval; "
        "`processingTime` means the same",
    },
}
"""Model to key to meaning."""
