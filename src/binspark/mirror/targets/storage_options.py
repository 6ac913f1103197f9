"""The project's storage options (`fs.*`) in the terms of delta-rs and of pyiceberg.

Users write the arguments of pyarrow's file systems. Both libraries read credentials of the environment by themselves;
what is not in this table is passed to them under the name that the user gave it.
"""

from __future__ import annotations

from collections.abc import Mapping

from binspark.files.storage.filesystems import Options, s3_arguments, typed_options
from binspark.files.storage.options import Storage
from binspark.files.storage.uri import parse_uri

_S3 = ("s3", "s3a", "s3n")
_GOOGLE = ("gs", "gcs")
_AZURE = ("abfs", "abfss", "az", "adl")

_DELTA: Mapping[str, Mapping[str, str]] = {
    "s3": {
        "access_key": "aws_access_key_id",
        "secret_key": "aws_secret_access_key",
        "session_token": "aws_session_token",
        "region": "aws_region",
        "endpoint_override": "aws_endpoint",
        "anonymous": "aws_skip_signature",
        "force_virtual_addressing": "aws_virtual_hosted_style_request",
        "request_timeout": "timeout",
        "connect_timeout": "connect_timeout",
    },
    "gs": {"anonymous": "google_skip_signature"},
    "abfs": {
        "account_name": "azure_storage_account_name",
        "account_key": "azure_storage_account_key",
        "sas_token": "azure_storage_sas_token",
        "client_id": "azure_storage_client_id",
        "client_secret": "azure_storage_client_secret",
        "tenant_id": "azure_storage_tenant_id",
    },
}
_ICEBERG: Mapping[str, Mapping[str, str]] = {
    "s3": {
        "access_key": "s3.access-key-id",
        "secret_key": "s3.secret-access-key",
        "session_token": "s3.session-token",
        "region": "s3.region",
        "endpoint_override": "s3.endpoint",
        "anonymous": "s3.anonymous",
        "force_virtual_addressing": "s3.force-virtual-addressing",
        "role_arn": "s3.role-arn",
        "session_name": "s3.role-session-name",
        "request_timeout": "s3.request-timeout",
        "connect_timeout": "s3.connect-timeout",
        "proxy_options": "s3.proxy-uri",
    },
    "gs": {"access_token": "gcs.oauth2.token", "project_id": "gcs.project-id", "endpoint_override": "gcs.service.host"},
    "abfs": {
        "account_name": "adls.account-name",
        "account_key": "adls.account-key",
        "sas_token": "adls.sas-token",
        "client_id": "adls.client-id",
        "client_secret": "adls.client-secret",
        "tenant_id": "adls.tenant-id",
    },
}
_SECONDS = frozenset({"timeout", "connect_timeout"})


def delta_options(uri: str, storage: Storage) -> dict[str, str]:
    """Return the `storage_options` of delta-rs."""
    options = _translated(uri, storage, _DELTA)
    options = {name: f"{value}s" if name in _SECONDS else value for name, value in options.items()}
    if options.get("aws_endpoint", "").startswith("http://"):
        options["aws_allow_http"] = "true"
    return options


def iceberg_properties(uri: str, storage: Storage) -> dict[str, str]:
    """Return the properties of pyiceberg's FileIO."""
    return _translated(uri, storage, _ICEBERG)


def _translated(uri: str, storage: Storage, names: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    family, options = _family(uri), typed_options(storage.all_options())
    parsed = parse_uri(uri)
    if family == "s3" and parsed is not None:
        options = _with_scheme(s3_arguments(parsed.host, storage.user, options))
    known = names.get(family, {})
    return {known.get(name, name): _text(value) for name, value in options.items()}


def _with_scheme(options: Options) -> Options:
    """Return the options of S3 with an endpoint that is a URL: pyarrow takes its scheme as an option of its own."""
    options = dict(options)
    scheme, endpoint = options.pop("scheme", "https"), options.get("endpoint_override")
    if endpoint and "://" not in endpoint:
        options["endpoint_override"] = f"{scheme}://{endpoint}"
    return options


def _family(uri: str) -> str:
    parsed = parse_uri(uri)
    scheme = parsed.scheme if parsed else "file"
    for family, schemes in (("s3", _S3), ("gs", _GOOGLE), ("abfs", _AZURE)):
        if scheme in schemes:
            return family
    return scheme


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
