"""Logs as frames and as events, in order, in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from binspark.errors import BinlogError, DecodeError, SourceError
from binspark.event import Event, EventDecoder
from binspark.files.damage import Damage, OnDamage, SkipDamaged, damage_handler
from binspark.files.frame_scan import FrameScanner, Hole, open_seekable
from binspark.files.keyring_file import keyring_storage
from binspark.files.sources import LogSource, Paths, find_logs
from binspark.frames import ChecksumState, EventCode, Frame, Framer, type_name
from binspark.frames.checksum import checksum_mismatch
from binspark.frames.payload import DEFAULT_LIMITS, Limits
from binspark.os_errors import describe_os_error, source_errors
from binspark.position import Position
from binspark.transactions.byte_tables import IDENTIFYING_CODES
from binspark.transactions.grammar import Role, boundary_of, breaks_transaction

if TYPE_CHECKING:
    from binspark.encryption.keyring import Keyring

_CHUNK = 1 << 18
_PAYLOAD = EventCode.TRANSACTION_PAYLOAD


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How logs are read.

    expand_payloads   whether a TRANSACTION_PAYLOAD is followed by the events inside it
    report_checksums  whether an event with a wrong checksum is yielded, marked as such, instead of raising `Checksum`
    limits            how large compressed data may become
    """

    expand_payloads: bool = True
    report_checksums: bool = False
    limits: Limits = DEFAULT_LIMITS


_DEFAULT = ReadOptions()


def read_events(
    paths: Paths,
    options: ReadOptions = _DEFAULT,
    *,
    skip_damaged: SkipDamaged = False,
    keyring: str | Path | Keyring | None = None,
    keyring_password_file: str | Path | None = None,
) -> Iterator[Event]:
    """Yield every event of one or more logs. Events before damage are yielded before the error is raised.

    With `skip_damaged` reading continues with the next event that can be found. What was skipped is a warning, or,
    where `skip_damaged` is a function, the `Damage` that it is called with. `keyring` has the keys of encrypted logs.
    """
    on_damage = damage_handler(skip_damaged)
    for source in find_logs(paths, keyring_storage(keyring, keyring_password_file)):
        yield from source_events(source, options, on_damage)


def source_events(
    source: LogSource, options: ReadOptions = _DEFAULT, on_damage: OnDamage | None = None
) -> Iterator[Event]:
    """Yield every event of one log. With `on_damage`, events that cannot be read are skipped."""
    if on_damage is not None:
        yield from _sound_events(source, options, on_damage)
        return
    decoder = EventDecoder(source.name, options.limits)
    expand = options.expand_payloads
    for frame in read_frames(source, report_checksums=options.report_checksums):
        event = decoder.decode(frame)
        yield event
        if frame.type_code == _PAYLOAD and expand:
            yield from decoder.inner_events(event)


def read_frames(source: LogSource, *, report_checksums: bool = False) -> Iterator[Frame]:
    """Yield every frame of one log, up to where the source stops; raise `Truncated` if it ends inside an event."""
    framer = Framer(report_checksums=report_checksums)
    stop = math.inf if source.stop is None else source.stop
    with errors_before_stop(source, framer), source.open() as file:
        while chunk := file.read(_CHUNK):
            for frame in framer.feed(chunk):
                if frame.offset >= stop:
                    return
                yield frame
        framer.finish()


@contextmanager
def errors_before_stop(source: LogSource, framer: Framer) -> Iterator[None]:
    """Add the name of a log to errors, and ignore damage after the position where reading stops."""
    try:
        yield
    except DecodeError as error:
        if source.stop is None or (error.position.offset or 0) < source.stop:
            raise error.at(Position(file=source.name)) from None
    except OSError as error:
        raise SourceError(describe_os_error(error), Position(source.name, framer.offset)) from None


def _sound_events(source: LogSource, options: ReadOptions, on_damage: OnDamage) -> Iterator[Event]:
    """Yield the events of one log that can be read."""
    decoder = EventDecoder(source.name, options.limits)
    with source_errors(source.name), open_seekable(source) as file:
        for item in FrameScanner(file).scan():
            if source.stop is not None and _offset_of(item) >= source.stop:
                return
            if isinstance(item, Hole):
                error: BinlogError = item.error.at(Position(source.name, item.start))
                on_damage(Damage(error, source.name, item.start, item.end))
                continue
            try:
                if item.checksum is ChecksumState.BAD and not options.report_checksums:
                    raise bad_checksum(item, source.name)
                event = decoder.decode(item)
                yield event
                if item.type_code == _PAYLOAD and options.expand_payloads:
                    yield from decoder.inner_events(event)
            except DecodeError as error:
                on_damage(Damage(error, source.name, item.offset, item.end_offset))


def _offset_of(item: Frame | Hole) -> int:
    return item.start if isinstance(item, Hole) else item.offset


def bad_checksum(frame: Frame, file: str) -> DecodeError:
    """Return the error for a frame whose checksum does not match."""
    name = type_name(frame.type_code)
    return checksum_mismatch(frame.data, name).at(Position(file, frame.offset, name))


_BEGIN_WITH_GTID = (Role.IDENTIFIES, Role.OPENS)
_END = (Role.ENDS, Role.WRAPS)


class StartRule:
    """Decides with which event after damage reading continues.

    That is an event that begins a transaction, that follows the end of one, or that belongs to none. A BEGIN directly
    after the damage may follow a GTID that is damaged, unless the log has no GTIDs.

    has_gtids   whether a GTID was read
    """

    def __init__(self) -> None:
        self.has_gtids = False
        self._role_before: Role | None = None

    def note_damage(self) -> None:
        """Note that the event before the next one is not known."""
        self._role_before = None

    def is_start(self, event: Event) -> bool:
        """Return whether reading may continue with an event."""
        role, before = boundary_of(event).role, self._role_before
        self._role_before = role
        if event.inner is not None:
            return False
        if role is Role.BEGINS:
            has_gtids = self.has_gtids or event.frame.format.names_every_transaction
            return before not in _BEGIN_WITH_GTID and (before is not None or not has_gtids)
        if role is Role.BREAKS:
            return breaks_transaction(event, in_relay_log=False)
        return role in _BEGIN_WITH_GTID or before in _END


class TransactionEvents:
    """The events of one log, without those of damaged transactions from the damage on.

    After damage, reading continues as `StartRule` says. Without `on_damage` an error is raised, and everything else is
    as in `source_events`.
    """

    def __init__(self, source: LogSource, options: ReadOptions = _DEFAULT, on_damage: OnDamage | None = None) -> None:
        self._source = source
        self._options = options
        self._on_damage = on_damage
        self._rule = StartRule()
        self._skipped: Damage | None = None
        self._event: Event | None = None
        self._end = 0

    def __iter__(self) -> Iterator[Event]:
        """Yield the events."""
        if self._on_damage is None:
            yield from source_events(self._source, self._options)
            return
        for event in source_events(self._source, self._options, self._skip):
            self._rule.has_gtids = self._rule.has_gtids or event.type_code in IDENTIFYING_CODES
            if self._skipped is not None and self._rule.is_start(event):
                self._report(event.offset)
            self._event, self._end = event, event.end_offset
            if self._skipped is None:
                yield event
        self._report(self._end)

    def skip(self, error: BinlogError) -> None:
        """Skip the rest of the transaction of the event that was yielded last, because of an error in that event."""
        event = self._event
        if self._on_damage is None or event is None:
            raise error
        self._skip(Damage(error, self._source.name, event.offset, event.end_offset))

    def _skip(self, damage: Damage) -> None:
        """Begin to skip; while skipping, more damage belongs to what is skipped already."""
        self._skipped = self._skipped or damage
        self._end = damage.end
        self._rule.note_damage()

    def _report(self, end: int) -> None:
        skipped, self._skipped = self._skipped, None
        if skipped is not None and self._on_damage is not None:
            self._on_damage(replace(skipped, end=end))
