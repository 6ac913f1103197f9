"""What can go wrong with a test server."""


class ServerUnavailable(Exception):
    """No server of this family can be had on this machine; the message says why."""


class SqlFailed(Exception):
    """The server refused a script; the message is the client's."""
