"""Errors that have nothing to do with a checkpoint; none of them has a page."""

from __future__ import annotations

UNRELATED: tuple[str, ...] = (
    'Traceback (most recent call last):\n  File "app.py", line 3, in <module>\nValueError: bad',
    "KeyError: 'batch'",
    "FileNotFoundError: [Errno 2] No such file or directory: '/data/in/offsets.csv'",
    "ModuleNotFoundError: No module named 'state_store'",
    "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `x` "
    "cannot be resolved. SQLSTATE: 42703",
    "[TABLE_OR_VIEW_NOT_FOUND] The table or view `orders` cannot be found. SQLSTATE: 42P01",
    "[DIVIDE_BY_ZERO] Division by zero. Use `try_divide`. SQLSTATE: 22012",
    "[PARSE_SYNTAX_ERROR] Syntax error at or near 'selct'. SQLSTATE: 42601",
    "pandas.errors.MergeError: No common columns to perform merge on.",
    "pandas.errors.ParserError: Error tokenizing data. C error: Expected 3 fields in line 7, saw 4",
    "%3|1763262000.1|FAIL|rdkafka#consumer-1| [thrd:b:9092/1]: Connection refused",
    'psycopg.errors.UniqueViolation: duplicate key value violates unique constraint "orders_pkey"',
    "com.amazonaws.services.s3.model.AmazonS3Exception: Access Denied (Service: Amazon S3; Status "
    "Code: 403; Error Code: AccessDenied)",
    "com.fasterxml.jackson.core.JsonParseException: Unrecognized token 'abc'\n\tat com.acme.Reader"
    ".read(Reader.java:9)",
    "java.io.EOFException\n\tat org.apache.parquet.hadoop.ParquetFileReader.<init>(P.java:1)",
    "java.nio.charset.MalformedInputException: Input length = 1\n\tat com.acme.Csv.read(C.java:2)",
    "java.lang.IllegalArgumentException: Invalid UUID string: 42\n\tat com.acme.Id.of(Id.java:3)",
    "panic: runtime error: index out of range [3] with length 3",
    "error: externally-managed-environment",
    "ORA-01555: snapshot too old: rollback segment number 9 with name x too small",
    "Process finished with exit code 1",
    "The executor with id 4 exited with exit code 1(generic, look at logs to clarify).",
    "MemoryError: Unable to allocate 8.00 GiB for an array with shape (1073741824,)",
    "requests.exceptions.ConnectionError: HTTPConnectionPool(host='x', port=80): Max retries",
    "npm ERR! code ENOSPC",
)
