"""redact_value walks JSON-like data and knows a secret's name when it is a key."""

from __future__ import annotations

from enum import Enum

from holdfast.redaction import redact_value


class Level(str, Enum):
    """A text that is more than a text."""

    HIGH = "high"


def test_values_under_secret_names_go_whole() -> None:
    data = {"password": "p", "token": 5, "credentials": {"a": ["b"]}, "clientSecret": ["x"]}
    assert set(map(str, _mapping(data).values())) == {"[redacted]"}


def test_everything_else_keeps_value_and_type() -> None:
    data = {
        "key": [{"sensor_id": 1}],
        "offset": {"tokens": {"0": 100, "1": -2}},
        "password": None,
        "token_enabled": True,
        "useToken": False,
        "level": Level.HIGH,
        "bytes": b"password=p",
        "pair": ("a", 1),
        7: 0.5,
        "empty": {"secret": ""},
    }
    redacted = _mapping(data)
    assert redacted == data
    assert redacted["level"] is Level.HIGH
    assert isinstance(redacted["pair"], tuple)


def test_strings_are_redacted_wherever_they_are() -> None:
    data = ["password=p", ({"a": "https://u:p@h/"},), {"https://u:p@h/": 1}]
    assert redact_value(data) == [
        "password=[redacted]",
        ({"a": "https://[redacted]@h/"},),
        {"https://[redacted]@h/": 1},
    ]


def test_a_pair_of_name_and_value() -> None:
    assert redact_value({"name": "DB_PASSWORD", "value": "p", "n": 1}) == {
        "name": "DB_PASSWORD",
        "value": "[redacted]",
        "n": 1,
    }


def test_the_data_itself_is_not_changed() -> None:
    data = {"password": "p", "list": ["password=p"]}
    redact_value(data)
    assert data == {"password": "p", "list": ["password=p"]}


def _mapping(data: object) -> dict[object, object]:
    redacted = redact_value(data)
    assert isinstance(redacted, dict)
    return redacted
