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
        "project": "the project's name: small letters, digits and hyphens",
        "checkpoints": "the folder or URL below which each job has its checkpoint; "
        "`./checkpoints` unless told",
        "spark": "how Spark is started, see [spark](#spark)",
        "storage": "how places are reached, see [storage](#storage)",
        "jobs": "the jobs by name, see [a job](#a-job)",
        "profiles": "what differs between environments, by name, see [a profile](#a-profile)",
    },
    "Spark": {
        "master": "Spark's master; `local[*]` unless told",
        "conf": "Spark settings; numbers and truths are written as Spark's text",
        "jars": "jars beside those that the jobs need",
    },
    "Storage": {
        "s3": "[options](storage.md#options-s3)",
        "hdfs": "[options](storage.md#options-hdfs)",
        "gcs": "[options](storage.md#options-gcs)",
        "azure": "[options](storage.md#options-azure)",
    },
    "Job": {
        "source": "the only source, see [a source](#a-source)",
        "sources": "several sources by name; either this or `source`",
        "transform": "`module:function` in the project's folder: DataFrames in, a DataFrame out",
        "sql": "a query instead of a function, over a view for each source",
        "sink": "where the rows go, see [a sink](#a-sink)",
        "output_mode": "Spark's output mode; follows the sink's mode unless told",
        "trigger": "when a batch starts, see [a trigger](#a-trigger); available-now unless told",
        "conf": "Spark settings for this job alone",
        "checkpoint": "only to adopt a checkpoint that exists already at another place",
        "restart": "how `run --keep-running` restarts it, see [a restart](#a-restart)",
        "on_failure": "what to call when it failed for good, see [on failure](#on-failure)",
    },
    "Restart": {
        "limit": "restarts in a row without a committed batch in between; default `10`",
        "backoff": "the first pause, doubled with each further restart up to 5 minutes; default "
        "`5 seconds`",
    },
    "OnFailure": {
        "command": "a program with its arguments, run without a shell in the project's folder; it "
        "gets the JSON document on standard input",
        "webhook": "a URL that gets the JSON document in a POST; always a secret",
    },
    "Source": {
        "format": "any format that Spark can stream",
        "path": "the folder or table, for formats that take one",
        "schema": "columns as in DDL, such as `id string, at timestamp`",
        "options": "options of the reader",
    },
    "Sink": {
        "native": "`true`: Spark's own sink of this format writes, under Holdfast's lease, guards "
        "and records, with what that sink promises",
        "format": "what kind of sink; with `native`, any that Spark can load",
        "mode": "how a batch is taken in; `append` unless told",
        "key": "the columns that name a row, for `upsert`",
        "order_by": "which of two rows of one key in a batch wins",
        "batch_column": "databases, append: where the batch is kept with the rows",
        "path": "the folder or table, for Delta and files",
        "url": "the database",
        "table": "the table in the database; with `native`, the name of a catalog table in place "
        "of `path`",
        "function": "`module:function` of a custom sink",
        "partition_by": "columns that the output is partitioned by",
        "options": "options of the writer",
    },
    "Profile": {
        "checkpoints": "replaces `checkpoints`",
        "spark": "laid over `spark`",
        "storage": "laid over `storage`",
        "jobs": "laid over the jobs, by name: every key but `transform`, `sql` and `output_mode`",
    },
    "Trigger": {
        "available_now": "`true`: take what is there, then end; `availableNow` and `once` mean "
        "the same",
        "processing_time": "an interval such as `10 seconds`: start a batch that often; "
        "`processingTime` means the same",
    },
}
"""Model to key to meaning."""
