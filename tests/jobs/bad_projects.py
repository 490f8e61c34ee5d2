"""Project files that are wrong: the text, then the code, the line and a word of the message."""

from __future__ import annotations

HEAD = "project: p\n"
JOB = HEAD + "jobs:\n  a:\n"
SOURCE = "    source: {format: rate}\n"
SQL = "    sql: select 1\n"
GOOD = JOB + SOURCE + SQL
SINK = GOOD + "    sink: "
CONSOLE = "    sink: {format: console}\n"

BAD_PROJECTS: dict[str, tuple[str | bytes, str, int, str]] = {
    # not YAML
    "open list": (HEAD + "spark: {jars: [a\n", "HF1102", 3, "YAML"),
    "open quote": (HEAD + 'checkpoints: "x\n', "HF1102", 3, "YAML"),
    "tab": (HEAD + "spark:\n\tmaster: x\n", "HF1102", 3, "tab"),
    "bad indent": (HEAD + "spark:\n  master: x\n conf: {}\n", "HF1102", 4, "YAML"),
    "not UTF-8": (b"project: p\ncheckpoints: \xff\n", "HF1102", 2, "UTF-8"),
    "UTF-16": ("project: p\n".encode("utf-16"), "HF1102", 1, "UTF-8"),
    "control character": (HEAD + "checkpoints: a\x07b\n", "HF1102", 2, "U+0007"),
    "NUL": (HEAD + "\0", "HF1102", 2, "U+0000"),
    "two documents": (HEAD + "---\nproject: q\n", "HF1102", 2, "second document"),
    "tag": (HEAD + "checkpoints: !!python/object:os.system x\n", "HF1102", 2, "tags"),
    "tag on a mapping": (HEAD + "spark: !x {master: y}\n", "HF1102", 2, "tags"),
    "unknown alias": (HEAD + "checkpoints: *a\n", "HF1102", 2, "*a"),
    "alias of itself": (HEAD + "spark: &s {conf: *s}\n", "HF1102", 2, "*s"),
    "merge of a text": (HEAD + "spark: {<<: x}\n", "HF1102", 2, "mappings"),
    "key that is a list": (HEAD + "? [a]\n: b\n", "HF1102", 2, "key"),
    "deep": (HEAD + "spark: " + "[" * 60 + "]" * 60 + "\n", "HF1102", 2, "deeper"),
    "deeper than any stack": (HEAD + "spark: " + "[" * 100_000, "HF1102", 2, "deeper"),
    "billion laughs": (
        HEAD
        + "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)),
        "HF1102",
        6,
        "more than",
    ),
    "huge": (HEAD + "# " + "x" * 2_000_000, "HF1102", 1, "mebibyte"),
    # the root
    "empty": ("", "HF1105", 1, "empty"),
    "only a comment": ("# nothing\n", "HF1105", 1, "empty"),
    "null": ("~\n", "HF1105", 1, "empty"),
    "a list": ("\n- project: p\n", "HF1104", 2, "mapping"),
    "a text": ("project\n", "HF1104", 1, "mapping"),
    # keys
    "twice": (HEAD + "spark: {}\nproject: q\n", "HF1106", 3, "line 1"),
    "twice in conf": (HEAD + "spark:\n  conf:\n    a: 1\n    'a': 2\n", "HF1106", 5, "line 4"),
    "job twice": (GOOD + CONSOLE + "  a:\n", "HF1106", 7, "line 3"),
    "unknown key": (HEAD + "chekpoints: x\n", "HF1103", 2, "is checkpoints meant?"),
    "unknown key, nothing near": (HEAD + "zzz: x\n", "HF1103", 2, "known are"),
    "unknown spark key": (HEAD + "spark:\n  config: {}\n", "HF1103", 3, "is conf meant?"),
    "unknown storage": (HEAD + "storage:\n  s4: {}\n", "HF1103", 3, "is s3 meant?"),
    "unknown s3 key": (HEAD + "storage:\n  s3: {endpont: x}\n", "HF1103", 3, "is endpoint meant?"),
    "unknown job key": (GOOD + CONSOLE + "    triger: {}\n", "HF1103", 7, "is trigger meant?"),
    "unknown source key": (
        JOB + "    source: {format: rate, option: {}}\n" + SQL + CONSOLE,
        "HF1103",
        4,
        "is options meant?",
    ),
    "unknown sink key": (SINK + "{format: console, tabel: x}\n", "HF1103", 6, "is table meant?"),
    "camel case": (
        GOOD + CONSOLE + "    outputMode: append\n",
        "HF1103",
        7,
        "is output_mode meant?",
    ),
    # missing
    "no project": ("checkpoints: x\n", "HF1105", 1, "lacks project"),
    "no sink": (GOOD, "HF1105", 3, "lacks sink"),
    "no format": (SINK + "\n      path: x\n", "HF1105", 6, "lacks format"),
    "no source": (JOB + SQL + CONSOLE, "HF1105", 3, "source"),
    "no transform": (JOB + SOURCE + CONSOLE, "HF1105", 3, "transform"),
    "empty sources": (JOB + "    sources: {}\n" + SQL + CONSOLE, "HF1105", 3, "source"),
    "files without path": (SINK + "{format: parquet}\n", "HF1105", 6, "path"),
    "delta without path": (SINK + "{format: delta}\n", "HF1105", 6, "path"),
    "postgres without url": (SINK + "{format: postgres, table: t}\n", "HF1105", 6, "url"),
    "jdbc without table": (SINK + "{format: jdbc, url: 'jdbc:x'}\n", "HF1105", 6, "table"),
    "custom without function": (SINK + "{format: custom}\n", "HF1105", 6, "function"),
    "upsert without key": (SINK + "{format: delta, path: x, mode: upsert}\n", "HF1105", 6, "key"),
    "source without path": (
        JOB + "    source: {format: json}\n" + SQL + CONSOLE,
        "HF1105",
        4,
        "path",
    ),
    # wrong values
    "project is a list": ("project: [p]\n", "HF1104", 1, "a list"),
    "project is true": ("project: true\n", "HF1104", 1, "true"),
    "project is nothing": ("project:\n", "HF1104", 1, "nothing"),
    "bad project name": ("project: My_Project\n", "HF1104", 1, "hyphens"),
    "project is a number": ("project: 5\n", "HF1104", 1, "letter"),
    "name with a line end": ('project: "p\\n"\n', "HF1104", 1, "hyphens"),
    "bad job name": (HEAD + "jobs:\n  Bad:\n" + SOURCE + SQL + CONSOLE, "HF1104", 3, "'Bad'"),
    "jobs is a list": (HEAD + "jobs:\n  - a\n", "HF1104", 3, "mapping"),
    "jobs is nothing": (HEAD + "jobs:\n", "HF1104", 2, "nothing"),
    "job is nothing": (JOB, "HF1104", 3, "mapping"),
    "job is a text": (HEAD + "jobs: {a: b}\n", "HF1104", 2, "mapping"),
    "empty checkpoints": (HEAD + "checkpoints: ''\n", "HF1104", 2, "not empty"),
    "conf is a list": (HEAD + "spark: {conf: [a]}\n", "HF1104", 2, "mapping"),
    "conf value is nothing": (HEAD + "spark:\n  conf:\n    a:\n", "HF1104", 4, "number"),
    "conf value is a mapping": (HEAD + "spark: {conf: {a: {b: 1}}}\n", "HF1104", 2, "number"),
    "jars is a text": (HEAD + "spark: {jars: x.jar}\n", "HF1104", 2, "a list"),
    "path_style is yes": (HEAD + "storage: {s3: {path_style: yes}}\n", "HF1104", 2, "true or"),
    "unknown sink": (SINK + "{format: oracle}\n", "HF1104", 6, "postgres"),
    "unknown mode": (SINK + "{format: console, mode: merge}\n", "HF1104", 6, "upsert"),
    "unknown output mode": (GOOD + CONSOLE + "    output_mode: upsert\n", "HF1104", 7, "update"),
    "key is a text": (SINK + "{format: console, key: a}\n", "HF1104", 6, "a list"),
    "key without upsert": (SINK + "{format: delta, path: x, key: [a]}\n", "HF1104", 6, "append"),
    "order_by without upsert": (
        SINK + "{format: delta, path: x, order_by: a}\n",
        "HF1104",
        6,
        "upsert",
    ),
    "files can't upsert": (
        SINK + "{format: csv, path: x, mode: upsert, key: [a]}\n",
        "HF1104",
        6,
        "can't upsert",
    ),
    "kafka can't be complete": (SINK + "{format: kafka, mode: complete}\n", "HF1104", 6, "kafka"),
    "console with path": (SINK + "{format: console, path: x}\n", "HF1104", 6, "no path"),
    "delta with url": (SINK + "{format: delta, path: x, url: y}\n", "HF1104", 6, "no url"),
    "delta with function": (
        SINK + "{format: delta, path: x, function: 'a:b'}\n",
        "HF1104",
        6,
        "no function",
    ),
    "batch_column with files": (
        SINK + "{format: csv, path: x, batch_column: b}\n",
        "HF1104",
        6,
        "batch_column",
    ),
    "batch_column with upsert": (
        SINK + "{format: jdbc, url: 'jdbc:x', table: t, mode: upsert, key: [a], batch_column: b}\n",
        "HF1104",
        6,
        "append",
    ),
    "checkpoint among the options": (
        SINK + "{format: console, options: {checkpointLocation: /c}}\n",
        "HF1104",
        6,
        "<checkpoints>/<job>",
    ),
    "path among the options": (
        SINK + "{format: delta, path: x, options: {Path: y}}\n",
        "HF1104",
        6,
        "beside format",
    ),
    "partition_by with jdbc": (
        SINK + "{format: jdbc, url: 'jdbc:x', table: t, partition_by: [a]}\n",
        "HF1104",
        6,
        "partition_by",
    ),
    "url of another database": (
        SINK + "{format: postgres, url: 'mysql://h', table: t}\n",
        "HF1104",
        6,
        "postgresql://",
    ),
    "jdbc url": (SINK + "{format: jdbc, url: 'postgresql://h', table: t}\n", "HF1104", 6, "jdbc:"),
    "bad function": (SINK + "{format: custom, function: deliver}\n", "HF1104", 6, "module:"),
    "bad transform": (
        JOB + SOURCE + "    transform: pipeline.gold\n" + CONSOLE,
        "HF1104",
        5,
        "module:function",
    ),
    "source and sources": (
        JOB + SOURCE + "    sources: {b: {format: rate}}\n" + SQL + CONSOLE,
        "HF1104",
        5,
        "exclude",
    ),
    "transform and sql": (GOOD + "    transform: a:b\n" + CONSOLE, "HF1104", 5, "exclude"),
    "source's name": (
        JOB + "    sources: {a-b: {format: rate}}\n" + SQL + CONSOLE,
        "HF1104",
        4,
        "underscores",
    ),
    "kafka with path": (
        JOB + "    source: {format: kafka, path: x}\n" + SQL + CONSOLE,
        "HF1104",
        4,
        "no path",
    ),
    "two paths": (
        JOB + "    source: {format: json, path: x, options: {path: y}}\n" + SQL + CONSOLE,
        "HF1104",
        4,
        "options",
    ),
    "two triggers": (
        GOOD + CONSOLE + "    trigger: {available_now: true, processing_time: 1 second}\n",
        "HF1104",
        7,
        "either",
    ),
    "no trigger": (GOOD + CONSOLE + "    trigger: {}\n", "HF1104", 7, "either"),
    "available_now false": (
        GOOD + CONSOLE + "    trigger: {available_now: false}\n",
        "HF1104",
        7,
        "left out",
    ),
    "no interval": (
        GOOD + CONSOLE + "    trigger: {processing_time: 10}\n",
        "HF1104",
        7,
        "interval",
    ),
    # references
    "unknown reference": (HEAD + "storage: {s3: {key: '${vault:x}'}}\n", "HF1107", 2, "vault"),
    "bare reference": (HEAD + "storage: {s3: {key: '${KEY}'}}\n", "HF1107", 2, "${KEY}"),
    "open reference": (HEAD + "storage: {s3: {key: '${env:A'}}\n", "HF1107", 2, "${env:A"),
    "empty reference": (HEAD + "storage: {s3: {key: '${env:}'}}\n", "HF1107", 2, "${env:}"),
    "reference in a key": (HEAD + "spark: {conf: {'${env:A}': 1}}\n", "HF1107", 2, "key"),
    "reference in the base": (HEAD + "checkpoints: /c/${env:RUN}\n", "HF1108", 2, "move"),
    "reference in a checkpoint": (
        GOOD + CONSOLE + "    checkpoint: ${file:x}\n",
        "HF1108",
        7,
        "move",
    ),
    "reference in a name": (
        HEAD + 'jobs:\n  "${env:A}":\n' + SOURCE + SQL + CONSOLE,
        "HF1108",
        3,
        "name",
    ),
    # two jobs
    "one checkpoint": (
        GOOD
        + CONSOLE
        + "  b:\n"
        + SOURCE
        + SQL
        + CONSOLE
        + "    checkpoint: ./x/../checkpoints/a/\n",
        "HF1109",
        11,
        "jobs.a",
    ),
}
