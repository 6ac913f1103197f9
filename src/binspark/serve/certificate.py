"""TLS for clients: with a certificate that the user gives, or one that is made at start."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from binspark.errors import OptionError

_NAME = "binspark serve"
_VALID = timedelta(days=3650)
_BEFORE = timedelta(days=1)
"""Clocks of other machines may be behind."""


def tls_context(cert: str | None, key: str | None) -> ssl.SSLContext:
    """Return the context for connections of clients. Without a certificate, one is made that nobody has signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if cert is None:
        if key is not None:
            raise OptionError("requires ssl_cert, the certificate that it belongs to", option="ssl_key")
        _load_new_certificate(context)
        return context
    try:
        context.load_cert_chain(cert, key)
    except (OSError, ValueError) as error:
        files = ", ".join(file for file in (cert, key) if file)
        raise OptionError(f"cannot be used ({files}): {error}", option="ssl_cert") from None
    return context


def _load_new_certificate(context: ssl.SSLContext) -> None:
    """Make a certificate. Python loads certificates from files only, so it is in one for a moment, which is private."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _NAME)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - _BEFORE)
        .not_valid_after(now + _VALID)
        .sign(key, hashes.SHA256())
    )
    key_bytes = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with TemporaryDirectory(prefix="binspark-serve-") as folder:
        path = Path(folder) / "certificate.pem"
        path.write_bytes(key_bytes + certificate.public_bytes(serialization.Encoding.PEM))
        context.load_cert_chain(path)
