"""Options are known by name, have their kind, and are never shown."""

from __future__ import annotations

import pytest

from holdfast.errors import StorageError
from holdfast.redaction import redact
from holdfast.storage.options import (
    KNOWN_OPTIONS,
    SECRETS,
    StorageSettings,
    parse_storage_option,
    settings_for,
)


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("endpoint=http://h:9000", ("endpoint", "http://h:9000")),
        ("secret=a=b==", ("secret", "a=b==")),
        (" key =", ("key", "")),
    ],
)
def test_an_option_is_split_at_its_first_equals_sign(text: str, parsed: tuple[str, str]) -> None:
    assert parse_storage_option(text) == parsed


@pytest.mark.parametrize("text", ["wJalrXUtnFEMI", "=hush", "", "a b=hush", "wJalr/XUtn=hush"])
def test_a_malformed_option_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(StorageError) as caught:
        parse_storage_option(text)
    assert caught.value.code.number == "HF7010"
    assert "hush" not in caught.value.message
    assert "wJalr" not in caught.value.message


def test_options_count_for_the_family_of_the_location() -> None:
    settings = settings_for("webhdfs", [("user", "me"), ("kerberos", "yes")])
    assert settings.for_scheme("hdfs") == {"user": "me", "kerberos": True}
    assert settings.for_scheme("s3") == {}
    assert settings_for("gs", [("project", "p")]).for_scheme("gs") == {"project": "p"}
    assert settings_for("sftp", [("port", "22")]).for_scheme("sftp") == {"port": "22"}


@pytest.mark.parametrize(
    ("family", "key", "message"),
    [
        ("s3", "endpont", "s3 has no option endpont; did you mean endpoint?"),
        ("s3", "secret_key", "did you mean secret?"),
        ("hdfs", "web_hdfs", "did you mean webhdfs?"),
        ("azure", "account_name", "did you mean account?"),
        ("gcs", "zzzz", "gcs has no option zzzz"),
    ],
)
def test_an_unknown_option_names_the_nearest(family: str, key: str, message: str) -> None:
    with pytest.raises(StorageError) as caught:
        StorageSettings({family: {key: "hush-hush-hush"}})
    assert caught.value.code.number == "HF7010"
    assert message in caught.value.message
    assert "hush" not in caught.value.message
    assert all(known in caught.value.next_steps[0] for known in KNOWN_OPTIONS[family])


@pytest.mark.parametrize(("key", "value"), [("path_style", "perhaps-hush"), ("endpoint", "")])
def test_a_value_of_the_wrong_kind_is_refused_without_being_shown(key: str, value: str) -> None:
    with pytest.raises(StorageError) as caught:
        StorageSettings({"s3": {key: value}})
    assert caught.value.code.number == "HF7010"
    assert key in caught.value.message
    assert "hush" not in caught.value.message


@pytest.mark.parametrize(("text", "truth"), [("true", True), ("No", False), ("1", True)])
def test_truths_are_understood(text: str, truth: bool) -> None:
    assert StorageSettings({"s3": {"path_style": text}}).for_scheme("s3")["path_style"] is truth


def test_a_local_path_takes_no_options() -> None:
    with pytest.raises(StorageError) as caught:
        settings_for("file", [("endpoint", "hush")])
    assert caught.value.message == "a local path takes no storage options (endpoint)"
    assert settings_for("file", []) == StorageSettings()


def test_the_other_settings_win_option_by_option() -> None:
    project = StorageSettings({"s3": {"region": "eu", "endpoint": "a"}, "hdfs": {"user": "me"}})
    command = StorageSettings({"s3": {"endpoint": "b"}, "gcs": {"project": "p"}})
    both = project.overridden_by(command)
    assert both.options == {
        "s3": {"region": "eu", "endpoint": "b"},
        "hdfs": {"user": "me"},
        "gcs": {"project": "p"},
    }


def test_secrets_are_remembered_for_redaction_and_ordinary_values_are_not() -> None:
    StorageSettings({"s3": {"secret": "tulip-monsoon-4711", "region": "mars-north-17"}})
    assert redact("tulip-monsoon-4711 in mars-north-17") == redact("tulip-monsoon-4711") + (
        " in mars-north-17"
    )
    assert "tulip" not in redact("tulip-monsoon-4711")


def test_options_of_other_schemes_are_simple_values() -> None:
    assert StorageSettings({"sftp": {"port": 22}}).for_scheme("sftp") == {"port": 22}
    with pytest.raises(StorageError) as caught:
        StorageSettings({"sftp": {"port": ["hush"]}})  # type: ignore[dict-item]
    assert caught.value.message == "sftp option port must be a string, number or boolean"


def test_settings_never_show_values() -> None:
    assert "eu-1" not in repr(StorageSettings({"s3": {"region": "eu-1"}}))


def test_every_secret_is_an_option() -> None:
    assert all(any(name in known for known in KNOWN_OPTIONS.values()) for name in SECRETS)
