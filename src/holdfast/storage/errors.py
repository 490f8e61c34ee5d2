"""The one border where errors of file systems and their libraries become StorageErrors.

Foreign libraries are known by the names of their classes and by the attributes that they carry,
so that none of them has to be installed. What an error says passes through `redact`.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from holdfast.errors import HoldfastError, NotFoundError, StorageError
from holdfast.redaction import redact

TRANSIENT = frozenset({"HF7007", "HF7011", "HF7012"})
"""Codes of failures that may be gone when the same thing is asked again."""

_LONGEST_DETAIL = 300

_ERRNO: Mapping[int, str] = {
    errno.ENOENT: "HF7001",
    errno.ESTALE: "HF7001",
    errno.EACCES: "HF7002",
    errno.EPERM: "HF7002",
    errno.ENOTDIR: "HF7013",
    errno.EISDIR: "HF7013",
    errno.ELOOP: "HF7013",
    errno.ENXIO: "HF7013",
    errno.ETIMEDOUT: "HF7007",
    errno.ECONNREFUSED: "HF7011",
    errno.ECONNRESET: "HF7011",
    errno.ECONNABORTED: "HF7011",
    errno.EPIPE: "HF7011",
    errno.EHOSTUNREACH: "HF7011",
    errno.EHOSTDOWN: "HF7011",
    errno.ENETUNREACH: "HF7011",
    errno.EBUSY: "HF7012",
    errno.EAGAIN: "HF7012",
    getattr(errno, "EREMOTEIO", errno.EIO): "HF7012",
    errno.EIO: "HF7006",
}

_SERVICE_CODE: Mapping[str, str] = {
    "NoSuchBucket": "HF7001",
    "NoSuchKey": "HF7001",
    "NotFoundError": "HF7001",
    "AccessDenied": "HF7002",
    "AllAccessDisabled": "HF7002",
    "InvalidAccessKeyId": "HF7008",
    "SignatureDoesNotMatch": "HF7008",
    "ExpiredToken": "HF7008",
    "InvalidToken": "HF7008",
    "TokenRefreshRequired": "HF7008",
    "RequestTimeTooSkewed": "HF7008",
    "AuthorizationHeaderMalformed": "HF7008",
    "SlowDown": "HF7012",
    "Throttling": "HF7012",
    "ThrottlingException": "HF7012",
    "RequestLimitExceeded": "HF7012",
    "ServiceUnavailable": "HF7012",
    "InternalError": "HF7012",
    "RequestTimeout": "HF7007",
}
"""What object stores answer in `error.response["Error"]["Code"]`."""

_CLASS_NAME: Mapping[str, str] = {
    "NoCredentialsError": "HF7008",
    "PartialCredentialsError": "HF7008",
    "CredentialRetrievalError": "HF7008",
    "ProfileNotFound": "HF7008",
    "TokenRetrievalError": "HF7008",
    "UnauthorizedSSOTokenError": "HF7008",
    "DefaultCredentialsError": "HF7008",
    "RefreshError": "HF7008",
    "ClientAuthenticationError": "HF7008",
    "ResourceNotFoundError": "HF7001",
    "ConnectTimeoutError": "HF7007",
    "ReadTimeoutError": "HF7007",
    "FSTimeoutError": "HF7007",
    "ServerTimeoutError": "HF7007",
    "ConnectTimeout": "HF7007",
    "ReadTimeout": "HF7007",
    "Timeout": "HF7007",
    "TimeoutError": "HF7007",
    "ServiceResponseTimeoutError": "HF7007",
    "EndpointConnectionError": "HF7011",
    "ConnectionClosedError": "HF7011",
    "ProxyConnectionError": "HF7011",
    "SSLError": "HF7011",
    "ClientConnectionError": "HF7011",
    "ClientPayloadError": "HF7011",
    "ServerDisconnectedError": "HF7011",
    "IncompleteRead": "HF7011",
    "ConnectionError": "HF7011",
    "HTTPClientError": "HF7011",
    "ServiceRequestError": "HF7011",
    "ServiceResponseError": "HF7011",
    "gaierror": "HF7011",
    "HttpError": "HF7006",
}
"""botocore, aiohttp, requests, fsspec, google-auth and gcsfs, azure-core: nearest class wins."""


@contextmanager
def border(at: str) -> Iterator[None]:
    """Turn whatever a file system raises inside into a StorageError that names the place."""
    try:
        yield
    except HoldfastError:
        raise
    except Exception as error:
        raise translated(error, at) from error


def translated(error: BaseException, at: str) -> StorageError:
    """Say a foreign error in our own words, with the most exact code that it allows."""
    if isinstance(error, StorageError):
        return error
    number = code_for(error)
    message = f"{_MESSAGE[number]}{_detail(error)}"
    return (NotFoundError if number == "HF7001" else StorageError)(number, message, at=at)


_MESSAGE: Mapping[str, str] = {
    "HF7001": "it does not exist",
    "HF7002": "access was denied",
    "HF7006": "the storage failed while reading",
    "HF7007": "the storage did not answer in time",
    "HF7008": "credentials are missing or were rejected",
    "HF7011": "the storage is unreachable",
    "HF7012": "the storage is overloaded or failed temporarily",
    "HF7013": "this is not a regular file inside the checkpoint",
}


def code_for(error: BaseException) -> str:
    """Return the code of our registry for a foreign error; what it was raised from counts first."""
    if error.__cause__ is not None and not isinstance(error.__cause__, HoldfastError):
        cause = code_for(error.__cause__)
        if cause != "HF7006":
            return cause
    return _service_answer(error) or _by_class(error) or _by_errno(error) or "HF7006"


def is_beyond_end(error: BaseException) -> bool:
    """Whether a storage refused a range because it starts behind the file's last byte."""
    if _service_code(error) == "InvalidRange" or str(_status(error)) == "416":
        return True
    return error.__cause__ is not None and is_beyond_end(error.__cause__)


def _service_answer(error: BaseException) -> str | None:
    answer = _service_code(error)
    return _SERVICE_CODE.get(answer) or _by_status(answer) or _by_status(_status(error))


def _service_code(error: BaseException) -> str:
    response = getattr(error, "response", None)
    details = response.get("Error") if isinstance(response, Mapping) else None
    return str(details.get("Code")) if isinstance(details, Mapping) else ""


def _status(error: BaseException) -> object:
    """Find the HTTP status where the libraries keep it."""
    for attribute in ("status", "status_code", "code"):
        status = getattr(error, attribute, None)
        if isinstance(status, int | str):
            return status
    return getattr(getattr(error, "response", None), "status_code", None)


def _by_status(status: object) -> str | None:
    if not str(status).isdigit():
        return None
    number = int(str(status))
    if number in (401, 407):
        return "HF7008"
    if number in (408, 504):
        return "HF7007"
    if number == 429 or 500 <= number <= 599:
        return "HF7012"
    return {403: "HF7002", 404: "HF7001"}.get(number)


def _by_class(error: BaseException) -> str | None:
    names = (kind.__name__ for kind in type(error).__mro__)
    return next((_CLASS_NAME[name] for name in names if name in _CLASS_NAME), None)


def _by_errno(error: BaseException) -> str | None:
    if isinstance(error, FileNotFoundError):
        return "HF7001"
    if isinstance(error, PermissionError):
        return "HF7002"
    return _ERRNO.get(error.errno or 0) if isinstance(error, OSError) else None


def _detail(error: BaseException) -> str:
    """What the error itself says, on one line and without secrets; never a path twice."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    line = " ".join(redact(str(text)).split())
    if not line:
        return f" ({type(error).__name__})"
    return f": {line if len(line) <= _LONGEST_DETAIL else line[: _LONGEST_DETAIL - 1] + '…'}"
