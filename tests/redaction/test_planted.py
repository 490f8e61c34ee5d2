"""Secrets planted in everything that Holdfast may print; none may survive in any form."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest

from holdfast.redaction import REDACTED, redact, redact_value

SECRETS = [f"s3Cr{number:02d}-Zq{number * 7919 % 1000:03d}xK" for number in range(80)]

PLACES = [
    # user info of URLs
    "postgresql://holdfast:{}@db:5432/gold",
    "connecting to https://{}@git.example.com/repo failed",
    "mongodb://u:{}@h1:27017,h2:27017/db?replicaSet=r",
    "s3n://SOMEID:abc/{}@bucket/path",
    "amqp://u:p@{}@host/vhost",
    "jdbc:oracle:thin:scott/{}@//ora:1521/svc",
    # query strings
    "https://acct.blob.core.windows.net/c/f?sv=2022-11-02&se=2026&sig={}",
    "GET https://b.s3.amazonaws.com/k?X-Amz-Credential={}&X-Amz-Date=1",
    "https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature={}",
    "https://b.s3.amazonaws.com/k?X-Amz-Security-Token={}&a=1",
    "https://b.s3.amazonaws.com/k?AWSAccessKeyId={}&Expires=1",
    "https://api/x?access_token={}",
    "https://api/x?api_key={}&b=2",
    "https://api/x?a=1&key={}",
    "https://api/cb?code={}&state=1",
    "https://api/x?client_secret={}",
    "jdbc:mysql://h/db?user=u&password={}",
    "jdbc:sqlserver://h:1433;user=sa;password={};encrypt=true",
    "jdbc:sqlserver://h:1433;password={{a;{}}};encrypt=true",
    # settings
    "spark.hadoop.fs.s3a.secret.key={}",
    "spark.hadoop.fs.s3a.access.key = {}",
    "spark.hadoop.fs.s3a.session.token={}",
    "fs.azure.account.key.acct.dfs.core.windows.net={}==",
    "(spark.hadoop.fs.azure.account.oauth2.client.secret,{})",
    "Map(ssl.keystore.password -> {}, ssl.key.location -> /k)",
    "javax.jdo.option.ConnectionPassword: {}",
    "<property><name>fs.s3a.secret.key</name><value>{}</value></property>",
    "spark-submit --conf spark.ssl.keyPassword={} app.py",
    "psql --dbname=gold --password {}",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={}==;EndpointSuffix=x",
    "Endpoint=sb://ns/;SharedAccessKeyName=Root;SharedAccessKey={};EntityPath=e",
    # JAAS lines
    'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="{}";',
    "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required "
    'username="u" password="a;{}";',
    'KafkaClient {{ com.x.OAuthLoginModule required clientSecret="{}" scope="s"; }};',
    # environment
    "AWS_SECRET_ACCESS_KEY={} AWS_REGION=eu-west-1",
    "export PGPASSWORD='{}'",
    "environ({{'DB_PASS': '{}', 'HOME': '/root'}})",
    "MYSQL_PWD={}",
    # exception texts and Java traces
    "py4j.protocol.Py4JJavaError: An error occurred: login failed, password: {} is wrong",
    "java.sql.SQLException: Access denied (using password={}, user=u)\n"
    "\tat com.mysql.cj.jdbc.exceptions.SQLError.create(SQLError.java:129)",
    "Caused by: com.amazonaws.AmazonServiceException: 403 [secretKey={}]\n"
    "\tat org.apache.hadoop.fs.s3a.S3AUtils.translateException(S3AUtils.java:289)",
    "requests.exceptions.HTTPError: 401 for url: https://api/x?token={}",
    "Authorization: Bearer {}",
    'headers={{"Authorization": "Bearer {}"}}',
    "> Authorization: ApiKey {}",
    "Set-Cookie: {}",
    # records
    '{{"url": "postgresql://u:{}@h/db", "rows": 3}}',
    '{{"settings": {{"spark.hadoop.fs.s3a.secret.key": "{}"}}, "batch": 4}}',
    '{{"password": "with \\"quote\\" {}"}}',
    '{{"name": "DB_PASSWORD", "value": "{}"}}',
    '{{"tokens": ["first]", "{}"]}}',
    '{{"credentials": {{"user": "u", "pin": "{}"}}, "n": 1}}',
    '{{"private_key": "-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----\\n"}}',
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{}\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN EC PRIVATE KEY-----\n{}",
    "<connection><password>{}</password></connection>",
]

PLANTED = [place.format(secret) for place, secret in zip(PLACES, SECRETS, strict=False)]

FORMS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "percent": lambda text: quote(text, safe=""),
    "percent, lower": lambda text: quote(text, safe="").replace("%3A", "%3a").replace("%3D", "%3d"),
    "percent, plus": quote_plus,
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "every letter": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64, url-safe": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "base64 in a path": lambda text: "/p/" + base64.urlsafe_b64encode(text.encode()).decode(),
    "base64 in lines": lambda text: base64.encodebytes(text.encode()).decode(),
    "base64, percent": lambda text: quote(base64.b64encode(text.encode()).decode(), safe=""),
    "JSON string": lambda text: json.dumps({"message": text}),
    "JSON in JSON": lambda text: json.dumps({"event": json.dumps({"message": text})}),
    "in a sentence": lambda text: f"it said: {text}",
}


def traces_of(secret: str) -> list[str]:
    """Everything that would let a reader see the secret: plain, percent-encoded, base64."""
    cores = []
    for shift, undecided in ((0, 0), (1, 2), (2, 3)):
        letters = base64.b64encode(b"\0" * shift + secret.encode()).decode()
        cores.append(letters[undecided : (shift + len(secret)) * 8 // 6])
    every = "".join(f"%{byte:02X}" for byte in secret.encode())
    return [secret, every, *cores]


def test_enough_is_planted() -> None:
    assert len({*PLANTED}) == len(PLACES) >= 40
    assert len({*SECRETS}) == len(SECRETS)


@pytest.mark.parametrize("form", FORMS)
def test_no_planted_secret_survives(form: str) -> None:
    """Whatever it was planted in."""
    shown = [redact(FORMS[form](planted)) for planted in PLANTED]
    assert [text for text in shown if REDACTED not in text] == []
    seen = [
        text
        for text, secret in zip(shown, SECRETS, strict=False)
        if any(trace in text for trace in traces_of(secret))
    ]
    assert seen == []
    assert [text for text in shown if redact(text) != text] == []


@pytest.mark.parametrize("place", range(len(PLACES)))
def test_no_planted_secret_survives_in_data(place: int) -> None:
    data = {"events": [{"message": PLANTED[place]}, (1, PLANTED[place])]}
    redacted = str(redact_value(data))
    assert REDACTED in redacted
    assert SECRETS[place] not in redacted


@pytest.mark.parametrize(
    "text",
    [
        "denied: AKIAIOSFODNN7EXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "xoxb-2345678901-abcdefghij",
        "dapi0123456789abcdef0123456789abcdef",
    ],
)
def test_secrets_of_known_form_need_no_name(text: str) -> None:
    redacted = redact(f"AKIAIOSFODNN7EXAMPLE {text}" if "/K7" in text else text)
    assert REDACTED in redacted
    assert text.rsplit(maxsplit=1)[-1] not in redacted
    assert redact(redacted) == redacted


def test_basic_authorization_needs_no_header_name() -> None:
    word = base64.b64encode(b"user:opensesame").decode()
    assert redact(f"curl: Basic {word} refused") == "curl: Basic [redacted] refused"
