"""How an archive is served: values only."""

from __future__ import annotations

from dataclasses import dataclass, field

from binspark.errors import OptionError
from binspark.monitoring.settings import MetricsSettings
from binspark.os_errors import describe_os_error
from binspark.server.config import is_loopback

DEFAULT_BIND = "127.0.0.1"
DEFAULT_PORT = 3306
DEFAULT_USER = "repl"


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """How an archive is served.

    bind               the address to listen on
    port               the port to listen on; 0 for any that is free
    user, password     the only account
    server_id          the server id to report; None for that of the logs
    heartbeat_seconds  how often an idle client gets a heartbeat that has not requested any; None for never
    ssl_cert, ssl_key  the certificate that clients see; None for one that is made at start
    progress_seconds   how often `on_progress` is called; 0 for never
    metrics            where metrics are served; None for nowhere
    """

    bind: str = DEFAULT_BIND
    port: int = DEFAULT_PORT
    user: str = DEFAULT_USER
    password: str = field(default="", repr=False)
    server_id: int | None = None
    heartbeat_seconds: float | None = None
    ssl_cert: str | None = None
    ssl_key: str | None = None
    progress_seconds: float = 10.0
    metrics: MetricsSettings | None = None

    def __post_init__(self) -> None:
        if not self.password and not is_loopback(self.bind):
            problem = f"is required to listen on {self.bind}: other machines can connect. Without it, use 127.0.0.1"
            raise OptionError(problem, option="password_file")


def read_password(file: str) -> str:
    """Return the password in the first line of a file."""
    try:
        with open(file, encoding="utf-8") as opened:
            password = opened.readline().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = describe_os_error(error) if isinstance(error, OSError) else "it is not UTF-8"
        raise OptionError(f"{file} cannot be read: {reason}", option="password_file") from None
    if not password:
        raise OptionError(f"{file} has no password in its first line", option="password_file")
    return password
