"""Who may connect: how many, how many of one address, and how long an address waits after wrong passwords.

Strangers can open connections, and do nothing else before they log in. Therefore logins have limits of their own, far
below that of all clients, and the oldest login gives way to a new one: a client that knows its password needs a
fraction of a second, one that waits is none.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable

from binspark.serve.channel import ClientChannel
from binspark.serve.errors import too_many_connections

MAX_CLIENTS = 500
MAX_CLIENTS_OF_ADDRESS = 200
MAX_LOGINS = 100
MAX_LOGINS_OF_ADDRESS = 25
"""How many clients may be connected, and how many of them may not have logged in yet."""

FREE_FAILURES = 3
FIRST_DELAY, MAX_DELAY = 0.5, 4.0
_FORGET_SECONDS = 600.0
_MAX_ADDRESSES = 4096
_IPV6_NETWORK = 64


class Admission:
    """The clients that are connected, and the addresses that have sent wrong passwords; from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._logins: dict[ClientChannel, str] = {}
        self._clients: dict[ClientChannel, str] = {}
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def connected(self, channel: ClientChannel) -> None:
        """Add a client that is about to log in; a `ClientError` if there are too many clients.

        Where too many are about to log in, the oldest of them is ended.
        """
        address = _network(channel.host)
        with self._lock:
            if len(self._clients) + len(self._logins) >= MAX_CLIENTS:
                raise too_many_connections(f"{MAX_CLIENTS} clients are connected")
            of_address = [login for login, other in self._logins.items() if other == address]
            ended = of_address[:1] if len(of_address) >= MAX_LOGINS_OF_ADDRESS else []
            if not ended and len(self._logins) >= MAX_LOGINS:
                ended = [self._oldest_of_most()]
            for login in ended:
                del self._logins[login]
            self._logins[channel] = address
        for login in ended:
            login.shut()

    def _oldest_of_most(self) -> ClientChannel:
        """Return the oldest login of the address that has most of them."""
        most = Counter(self._logins.values()).most_common(1)[0][0]
        return next(login for login, address in self._logins.items() if address == most)

    def delay(self, channel: ClientChannel) -> float:
        """Return how many seconds a client waits for the answer to its login, be it right or wrong."""
        with self._lock:
            count, last = self._failures.get(_network(channel.host), (0, 0.0))
            if count < FREE_FAILURES or self._clock() - last > _FORGET_SECONDS:
                return 0.0
            return float(min(MAX_DELAY, FIRST_DELAY * 2.0 ** min(count - FREE_FAILURES, 16)))

    def failed(self, channel: ClientChannel) -> None:
        """Record a wrong user or password."""
        address, now = _network(channel.host), self._clock()
        with self._lock:
            count, last = self._failures.pop(address, (0, now))
            self._failures[address] = (1 if now - last > _FORGET_SECONDS else count + 1, now)
            while len(self._failures) > _MAX_ADDRESSES:
                self._failures.popitem(last=False)

    def logged_in(self, channel: ClientChannel) -> None:
        """Record that a client has logged in; a `ClientError` if there are too many of its address."""
        address = _network(channel.host)
        with self._lock:
            self._failures.pop(address, None)
            self._logins.pop(channel, None)
            if list(self._clients.values()).count(address) >= MAX_CLIENTS_OF_ADDRESS:
                raise too_many_connections(f"{MAX_CLIENTS_OF_ADDRESS} clients of {channel.host} are connected")
            self._clients[channel] = address

    def gone(self, channel: ClientChannel) -> None:
        """Remove a client."""
        with self._lock:
            self._logins.pop(channel, None)
            self._clients.pop(channel, None)


def _network(host: str) -> str:
    """Return what counts as one address: whoever has one of IPv6 has 2^64 of them."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, _IPV6_NETWORK), strict=False))
    return host
