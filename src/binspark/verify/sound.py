"""Skip the events that are sound, many at a time, so that the checks of single events only see the others.

The kernel `kernels.sound` skips complete transactions of which the checks would report nothing. What the checks must
know of them afterwards is a `SoundPart`. Whatever the kernel does not skip is checked event by event, so findings are
the same with and without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import addressof, c_int64
from struct import Struct

from binspark.files.known_maps import KnownMaps, address_of, has_usual_layout
from binspark.files.storage.store import LogFile
from binspark.frames import ChecksumAlgorithm, Family, LogFormat
from binspark.frames.header import HEADER_LENGTH
from binspark.kernels import cache
from binspark.kernels.compiler import Headway, is_kept
from binspark.kernels.crc32 import crc32_address
from binspark.kernels.sound.layout import Sound, SoundStop
from binspark.kernels.sound.transactions import skip_sound
from binspark.kernels.transaction_gtid import Interval
from binspark.verify.checks import LogKind
from binspark.verify.log_checks import Checks
from binspark.verify.sound_part import GtidInterval, SoundPart

_WINDOW = 1 << 20
_MAX_EVENT = 1 << 24  # a larger one is for Python
_MAX_INTERVALS = 1024
_MAX_DOUBLINGS = 16
_UUID_WORDS = Struct("<qq")


def is_compiled() -> bool:
    """Return whether the kernel is kept on disk, so that using it need not compile it."""
    cache.enable()
    return is_kept(skip_sound)


def _has_usual_layout(kind: LogKind, log_format: LogFormat) -> bool:
    """Return whether the kernel knows the layout of a log: since MySQL 5.1, and not a relay log."""
    return kind.has_positions and not kind.has_relative_positions and has_usual_layout(log_format)


class SoundSkipper:
    """Skips sound events of one log, as long as its format is the same."""

    def __init__(self, log: LogFile, checks: Checks, log_format: LogFormat) -> None:
        cache.enable()
        self.format = log_format
        self._log = log
        self._checks = checks
        self._usual = _has_usual_layout(checks.kind, log_format)
        self._window = b""
        self._window_offset = 0
        self._state = (c_int64 * Sound.COUNT)()
        self._intervals = (c_int64 * (Interval.COUNT * _MAX_INTERVALS))()
        self._maps = KnownMaps(log_format)
        self._capacity = _MAX_INTERVALS
        self._rejections = 0
        self._wait = 0
        has_checksum = log_format.checksum is ChecksumAlgorithm.CRC32
        self._state[Sound.CHECKSUM] = has_checksum
        self._state[Sound.CRC_FUNCTION] = crc32_address()
        self._state[Sound.MAY_LACK_POSITIONS] = has_checksum and log_format.family is Family.MARIADB
        self._state[Sound.INTERVALS] = addressof(self._intervals)

    def parts(self, offset: int) -> Iterator[SoundPart]:
        """Yield the parts that follow each other from an offset on, at which no transaction is in progress.

        The checks have skipped a part when it is yielded. If they reject one, shorter ones are tried, down to one
        interval of GTIDs; then some transactions are left to the checks of single events, more at each rejection, so
        that the kernel reads nothing too often.
        """
        if self._wait or not self._usual:
            self._wait = max(0, self._wait - 1)
            return
        while (part := self._next_part(offset)) is not None:
            if self._checks.skip(part):
                yield part
                offset = part.end
                self._capacity = min(2 * self._capacity, _MAX_INTERVALS)
                self._rejections = 0
            elif self._capacity > 1:
                self._capacity = 1
            else:
                self._rejections += 1
                self._wait = 1 << min(self._rejections, _MAX_DOUBLINGS)
                return

    def _next_part(self, offset: int) -> SoundPart | None:
        """Return what is sound from an offset on; None if the transaction that begins there is not."""
        state, clock = self._state, self._checks.clock
        for number in range(Sound.PROGRESS, Sound.COUNT):
            state[number] = 0
        state[Sound.INTERVAL_CAPACITY] = self._capacity
        state[Sound.CLOCK], state[Sound.GAP_EXPECTED] = clock.last, clock.gap_expected
        state[Sound.EXPECTS_ANONYMOUS] = self._checks.mysql_gtids.has_anonymous
        if not self._move_to(offset, HEADER_LENGTH):
            return None
        stop, headway = skip_sound(addressof(state), self._maps.address), Headway()
        while stop in (SoundStop.MORE, SoundStop.TABLE_MAP) and self._prepare(stop):
            headway.check(state[Sound.AT] + state[Sound.ORIGIN])
            stop = skip_sound(addressof(state), self._maps.address)
        return self._part(offset) if state[Sound.TRANSACTIONS] else None

    def _prepare(self, stop: int) -> bool:
        """Do what the kernel needs to continue; return False if that is not possible."""
        at = self._state[Sound.AT] + self._state[Sound.ORIGIN]
        if stop == SoundStop.TABLE_MAP:
            return self._maps.learn(self._event_at(at), at, self._state[Sound.MAP_ENTRY])
        return self._move_to(at, self._state[Sound.NEEDED])

    def _move_to(self, offset: int, needed: int) -> bool:
        """Bring the event at an offset into memory; return False if it is not complete, or too large."""
        start = offset - self._window_offset
        left = len(self._window) - start
        if start < 0 or left < needed:
            length = min(max(needed, _WINDOW), self._log.size - offset)
            if needed > min(length, _MAX_EVENT):
                return False
            self._window, self._window_offset = self._log.read_at(offset, length), offset
            start, left = 0, len(self._window)
        address = address_of(self._window)
        self._state[Sound.AT] = address + start
        self._state[Sound.END] = address + start + left
        self._state[Sound.ORIGIN] = self._window_offset - address
        return left >= needed

    def _event_at(self, offset: int) -> bytes:
        start = offset - self._window_offset
        return self._window[start : start + int.from_bytes(self._window[start + 9 : start + 13], "little")]

    def _part(self, start: int) -> SoundPart:
        state = self._state
        numbers = self._intervals
        intervals = []
        for index in range(0, Interval.COUNT * state[Sound.INTERVAL_COUNT], Interval.COUNT):
            kind, source, rest, first, stop = numbers[index : index + Interval.COUNT]
            intervals.append(GtidInterval(kind, _UUID_WORDS.pack(source, rest), first, stop))
        return SoundPart(
            start,
            end=state[Sound.SOUND_END],
            events=state[Sound.SOUND_EVENTS],
            transactions=state[Sound.TRANSACTIONS],
            has_gtid_events=state[Sound.IDENTIFIED] > 0,
            first_time=state[Sound.SOUND_FIRST_TIME],
            last_time=state[Sound.SOUND_LAST_TIME],
            last_sequence_number=state[Sound.SOUND_CLOCK],
            gap_expected=bool(state[Sound.SOUND_GAP_EXPECTED]),
            intervals=tuple(intervals),
        )
