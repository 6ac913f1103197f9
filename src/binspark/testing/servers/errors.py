"""Errors of test servers."""


class ServerUnavailable(Exception):
    """No server of this family is available on this machine; the message has the reason."""


class SqlFailed(Exception):
    """The server refused a script; the message is that of the client."""
