"""Foreign errors become ours: the right code, the place, and no secret."""

from __future__ import annotations

import asyncio
import errno
import socket

import aiohttp
import botocore.exceptions as boto
import pytest
import requests
from fsspec.exceptions import FSTimeoutError
from s3fs.errors import translate_boto_error

from holdfast.errors import DecodeError, NotFoundError, StorageError
from holdfast.redaction import remember_secret
from holdfast.storage.errors import border, is_beyond_end, translated


def client_error(code: str) -> boto.ClientError:
    return boto.ClientError({"Error": {"Code": code, "Message": "said so"}}, "GetObject")


def response_error(status: int) -> requests.HTTPError:
    response = requests.Response()
    response.status_code = status
    return requests.HTTPError("said so", response=response)


class HttpError(Exception):
    """As gcsfs has it."""

    def __init__(self, code: int) -> None:
        super().__init__("said so")
        self.code = code


class AzureError(Exception):
    """As azure-core has it."""


class ClientAuthenticationError(AzureError):
    """As azure-core has it."""


class HttpResponseError(AzureError):
    """As azure-core has it."""

    def __init__(self, status_code: int) -> None:
        super().__init__("said so")
        self.status_code = status_code


class ServiceRequestError(AzureError):
    """As azure-core has it."""


CASES: list[tuple[Exception, str]] = [
    (FileNotFoundError(2, "x"), "HF7001"),
    (FileNotFoundError("bucket/key"), "HF7001"),
    (PermissionError(13, "x"), "HF7002"),
    (PermissionError("AccessDenied"), "HF7002"),
    (OSError(errno.EPERM, "x"), "HF7002"),
    (IsADirectoryError(errno.EISDIR, "x"), "HF7013"),
    (NotADirectoryError(errno.ENOTDIR, "x"), "HF7013"),
    (OSError(errno.ELOOP, "x"), "HF7013"),
    (OSError(errno.EIO, "x"), "HF7006"),
    (OSError(errno.ESTALE, "x"), "HF7001"),
    (OSError(errno.EBUSY, "x"), "HF7012"),
    (OSError(errno.ETIMEDOUT, "x"), "HF7007"),
    (TimeoutError("x"), "HF7007"),
    (ConnectionRefusedError(errno.ECONNREFUSED, "x"), "HF7011"),
    (ConnectionResetError("x"), "HF7011"),
    (socket.gaierror(-2, "Name or service not known"), "HF7011"),
    (asyncio.TimeoutError(), "HF7007"),
    (FSTimeoutError(), "HF7007"),
    (OSError("x"), "HF7006"),
    (RuntimeError("x"), "HF7006"),
    (client_error("NoSuchBucket"), "HF7001"),
    (client_error("NoSuchKey"), "HF7001"),
    (client_error("404"), "HF7001"),
    (client_error("403"), "HF7002"),
    (client_error("AccessDenied"), "HF7002"),
    (client_error("InvalidAccessKeyId"), "HF7008"),
    (client_error("SignatureDoesNotMatch"), "HF7008"),
    (client_error("ExpiredToken"), "HF7008"),
    (client_error("SlowDown"), "HF7012"),
    (client_error("503"), "HF7012"),
    (client_error("InternalError"), "HF7012"),
    (client_error("SomethingNew"), "HF7006"),
    (translate_boto_error(client_error("InvalidAccessKeyId")), "HF7008"),
    (translate_boto_error(client_error("AccessDenied")), "HF7002"),
    (translate_boto_error(client_error("SlowDown")), "HF7012"),
    (translate_boto_error(client_error("500")), "HF7012"),
    (boto.NoCredentialsError(), "HF7008"),
    (boto.PartialCredentialsError(provider="env", cred_var="x"), "HF7008"),
    (boto.ProfileNotFound(profile="x"), "HF7008"),
    (boto.EndpointConnectionError(endpoint_url="http://h"), "HF7011"),
    (boto.ConnectTimeoutError(endpoint_url="http://h"), "HF7007"),
    (boto.ReadTimeoutError(endpoint_url="http://h"), "HF7007"),
    (boto.ConnectionClosedError(endpoint_url="http://h"), "HF7011"),
    (aiohttp.ServerDisconnectedError(), "HF7011"),
    (aiohttp.ServerTimeoutError(), "HF7007"),
    (aiohttp.ClientPayloadError(), "HF7011"),
    (requests.ConnectionError("x"), "HF7011"),
    (requests.ReadTimeout("x"), "HF7007"),
    (response_error(401), "HF7008"),
    (response_error(403), "HF7002"),
    (response_error(404), "HF7001"),
    (response_error(429), "HF7012"),
    (response_error(502), "HF7012"),
    (response_error(504), "HF7007"),
    (response_error(400), "HF7006"),
    (HttpError(404), "HF7001"),
    (HttpError(403), "HF7002"),
    (HttpError(503), "HF7012"),
    (HttpError(400), "HF7006"),
    (HttpResponseError(403), "HF7002"),
    (HttpResponseError(503), "HF7012"),
    (ClientAuthenticationError("x"), "HF7008"),
    (ServiceRequestError("x"), "HF7011"),
]


@pytest.mark.parametrize(("error", "code"), CASES, ids=lambda case: repr(case)[:60])
def test_each_foreign_error_has_its_code(error: Exception, code: str) -> None:
    ours = translated(error, "s3://lake/x")
    assert ours.code.number == code
    assert ours.at == "s3://lake/x"
    assert isinstance(ours, NotFoundError) is (code == "HF7001")


def test_what_was_raised_before_counts_first() -> None:
    outer = RuntimeError("wrapped")
    outer.__cause__ = client_error("SlowDown")
    assert translated(outer, "x").code.number == "HF7012"
    denied = PermissionError("denied")
    denied.__cause__ = ValueError("says nothing")
    assert translated(denied, "x").code.number == "HF7002"


def test_the_message_says_what_the_error_says_on_one_line() -> None:
    assert translated(OSError(errno.EIO, "Input/output error", "/a/b"), "x").message == (
        "the storage failed while reading: Input/output error"
    )
    assert translated(RuntimeError("a\n  b\tc"), "x").message.endswith(": a b c")
    assert translated(RuntimeError(), "x").message.endswith(" (RuntimeError)")
    assert len(translated(RuntimeError("x" * 5000), "x").message) < 400


def test_the_message_holds_no_secret() -> None:
    remember_secret("tulip-monsoon-4711")
    error = RuntimeError(
        "GET https://h/x?X-Amz-Signature=0f0f0f0f0f0f0f0f0f0f0f0f0f&Expires=1 tulip-monsoon-4711"
    )
    message = translated(error, "x").message
    assert "tulip" not in message
    assert "0f0f" not in message


def test_our_own_errors_pass_the_border() -> None:
    ours = StorageError("HF7009", "x")
    decode = DecodeError("HF2101", "x")
    for error in (ours, decode):
        with pytest.raises(type(error)) as caught, border("here"):
            raise error
        assert caught.value is error
    assert translated(ours, "elsewhere") is ours


def test_the_border_keeps_the_cause_and_lets_interrupts_through() -> None:
    foreign = ValueError("x")
    with pytest.raises(StorageError) as caught, border("here"):
        raise foreign
    assert caught.value.__cause__ is foreign
    with pytest.raises(KeyboardInterrupt), border("here"):
        raise KeyboardInterrupt


def test_a_range_behind_the_end_is_known() -> None:
    assert is_beyond_end(client_error("InvalidRange"))
    assert is_beyond_end(translate_boto_error(client_error("InvalidRange")))
    assert is_beyond_end(response_error(416))
    assert not is_beyond_end(client_error("NoSuchKey"))
