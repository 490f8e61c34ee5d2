"""What redact leaves alone, what it keeps around a secret, and that it is quick on anything."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.redaction import REDACTED, redact

HEALTHY = [
    "",
    "s3a://lake/ckpt/orders/offsets/1131",
    "abfss://container@account.dfs.core.windows.net/checkpoints/orders",
    "wasbs://container@account.blob.core.windows.net/x",
    "hdfs://namenode:8020/user/spark/ckpt@v2/state/0/1/5.delta",
    "/data/tokens/part-00000-3f0d7c11-7ee4-4f3c-9e39-6a3e8a2a9a1b-c000.snappy.parquet",
    "123e4567-e89b-12d3-a456-426614174000",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "sha256=2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
    '{"batchWatermarkMs":0,"batchTimestampMs":1700000000000,"conf":{'
    '"spark.sql.streaming.stateStore.providerClass":'
    '"org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",'
    '"spark.sql.shuffle.partitions":"8"}}',
    '{"orders":{"0":1045,"1":-2},"tokens":{"0":100}}',
    '{"id":"3f0d7c11-7ee4-4f3c-9e39-6a3e8a2a9a1b"}',
    '{"path":"file:///in/a.json","timestamp":1700000000000,"batchId":7}',
    "maxFilesPerTrigger=10, maxOffsetsPerTrigger=1000, startingOffsets=earliest",
    "batch 1131 doesn't exist; batch_id: 1132, query_id=3f0d7c11",
    "key_schema: struct<sensor_id:string>, value_schema: struct<sum:double>",
    'primaryKey=id key: sensor_id {"key": "a", "value": 1} key=[sensor_id, read_at]',
    '{"key":{"word":"token"},"value":{"count":5}}',
    '{"type":"struct","fields":[{"name":"token","type":"string","nullable":true,"metadata":{}}]}',
    "struct<token:string,password:string,key:int>",
    "root\n |-- password: string (nullable = true)\n |-- token: array (nullable = true)",
    "token STRING, password STRING, key INT",
    "\tat org.apache.hadoop.security.token.Token.decodeIdentifier(Token.java:123)",
    "org.apache.hadoop.security.token.SecretManager$InvalidToken: Password not found for x",
    "25/01/01 00:00:00 INFO HadoopDelegationTokenManager: started\n",
    "ParseException: unexpected token: EOF; Unrecognized token 'abc': was expecting null",
    "fs.s3a.aws.credentials.provider=org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
    "spark.kubernetes.authenticate.driver.oauthTokenFile=/var/run/token",
    "ssl.truststore.location=/etc/kafka/trust.jks",
    "PWD=/home/someone OLDPWD=/tmp",
    "http://token-service:8080/oauth and k8s://https://host:6443/a@b",
    "spark://CoarseGrainedScheduler@10.0.0.1:35217",
    'secret: "${env:SECRET}", key: ${file:key.txt}',
    'FATAL: password authentication failed for user "holdfast"',
    "password=null token=None useToken=false",
    "write to somebody@example.com, see https://spark.apache.org/docs/latest/#token",
    "50%25 done, a%20b, %zz, 100%, C%3A%5Ctemp, s3a://lake/a%3Db/c",
    "org.apache.spark.sql.execution.streaming.MicroBatchExecution.runBatch",
    "java.util.concurrent.ThreadPoolExecutor$Worker.run(ThreadPoolExecutor.java:642)",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.2.0",
    "ExpiredToken: The provided token has expired; InvalidAccessKeyId: no such id",
    "Dataset<Token>of rows and List<Password> of more",
    "VGhpcyBpcyBhIGhhcm1sZXNzIHRleHQgaW4gYmFzZTY0",
    "holdfast plan resume orders --project holdfast.yaml",
    "Basic authentication is off; bearer tokens are not used",
    "schema: sensor_id string, read_at timestamp, value double",
    "error HF2204: offsets/ has a gap: batch 1131 is missing between 1130 and 1132",
]

SPOILERS = [
    "a" * 10,
    "token",
    "password=",
    'password="',
    "token={\n",
    'token=[\\"',
    "%41",
    "://",
    "x://a:",
    "//a:b;",
    "\\",
    "{",
    '{"0":1,',
    "-----BEGIN PRIVATE KEY-----",
    "AKIA",
    "A1b2",
    " ",
    "eyJaaaaaaaaa.",
    "bearer ",
    "?key=",
    "jdbc:oracle:thin:",
    "A" * 70 + "\n",
    "<token>",
    "spark.a.token ",
    "token,;&",
    "pass",
]


@pytest.mark.parametrize("text", HEALTHY)
def test_healthy_text_is_unchanged(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://u:p@db:5432/gold", "postgresql://[redacted]@db:5432/gold"),
        ("https://h/f?a=1&sig=x%2Bz&b=2", "https://h/f?a=1&sig=[redacted]&b=2"),
        ("user=u&password=p&ssl=on", "user=u&password=[redacted]&ssl=on"),
        ("{password=p,x, user=u}", "{password=[redacted], user=u}"),
        ('{"password": "p", "n": 1}', '{"password": "[redacted]", "n": 1}'),
        ("next=%3Fpassword%3Dp%26n%3D1", "next=%3Fpassword%3D[redacted]%26n%3D1"),
        ("AccountKey=a+/b==;Suffix=x", "AccountKey=[redacted];Suffix=x"),
        ("password: 'p' for u", "password: '[redacted]' for u"),
        ("Bearer abcdefgh, x", "Bearer [redacted], x"),
        ("a 1\nspark.x.token  p\nb 2", "a 1\nspark.x.token  [redacted]\nb 2"),
        ("é password=ü x", "é password=[redacted] x"),
    ],
)
def test_only_the_secret_goes(text: str, expected: str) -> None:
    assert redact(text) == expected


FRAGMENTS = st.sampled_from(
    [
        *("password", "token", "key", "sig", "Authorization", "sasl.jaas.config", "Bearer "),
        *("=", ":", " ", '"', "\\", "'", "{", "}", "[", "]", ",", ";", "&", "?", "://", "u", "@"),
        *("%3D", "%20", "%22", "+", "/", "x1", "\n", "->", "(", ")", "<", ">"),
        *("cGFzc3dvcmQ9aHVudGVyMg", REDACTED),
    ]
)


@settings(deadline=None)
@given(st.lists(FRAGMENTS, max_size=24).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_taken(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize("spoiler", SPOILERS)
def test_a_megabyte_of_anything_ends(spoiler: str) -> None:
    text = spoiler * (1_000_000 // len(spoiler))
    assert isinstance(redact(text), str)
    assert isinstance(redact(f"password={text[:100_000]}"), str)


def test_only_the_standard_library_is_imported() -> None:
    program = (
        "import sys; before = set(sys.modules); import holdfast.redaction;"
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    )
    printed = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {program}"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert {*printed.split()} - {*sys.stdlib_module_names} == {"holdfast"}


def test_a_quote_in_a_password_hides_none_of_it() -> None:
    shown = redact("connect to 'postgresql://user:p'wSecret9@host/db'")
    assert shown == f"connect to 'postgresql://{REDACTED}@host/db'"
