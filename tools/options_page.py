"""Write `docs/options.md`: every option on the command line, in Python and in Spark, out of the code.

    python -m tools.options_page > docs/options.md

A test compares the page with the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from textwrap import fill

import click

from binspark.changes.selection_options import SCHEMA_FILE, SELECTION_OPTIONS, TABLE, TIMEZONE, SelectionOption
from binspark.cli.command import RenamedOption
from binspark.cli.main import COMMANDS, main
from binspark.files.damage import SKIP_DAMAGED
from binspark.options.dump import (
    DUMP_OPTIONS,
    FORCE_IF_OPEN,
    GTID_STRICT_MODE,
    MARIADB_OPTIONS,
    PRINT_ROW_COUNT,
    PRINT_ROW_EVENT_POSITIONS,
    VERBOSE,
)
from binspark.options.explore import EXPLORE_OPTIONS
from binspark.options.keyring import KEYRING_OPTIONS, LOG_OPTIONS, MAX_PAYLOAD_BYTES
from binspark.options.mirror import CHECK_OPTIONS, MIRROR_OPTIONS
from binspark.options.monitoring import METRICS_OPTIONS, STATUS_OPTIONS
from binspark.options.option import Option, Surface
from binspark.options.serve import SERVE_OPTIONS
from binspark.options.server import ARCHIVE_OPTIONS, SERVER_OPTIONS, STREAM_OPTIONS
from binspark.render.summary import SHOW_SECRETS
from binspark.spark.options import SPARK_OPTIONS
from binspark.sql.options import SCRIPT_OPTIONS

CLI, PYTHON, SPARK = Surface.COMMAND_LINE, Surface.PYTHON, Surface.SPARK
_MARIADB_DUMP = (*MARIADB_OPTIONS, PRINT_ROW_COUNT, PRINT_ROW_EVENT_POSITIONS, GTID_STRICT_MODE)
_DUMP = (VERBOSE, *DUMP_OPTIONS, FORCE_IF_OPEN, *_MARIADB_DUMP)

INTRODUCTION = """\
# Options

An option has one name and one meaning. Each surface spells the name in its own way: `--exclude-tables` on the command
line, `exclude_tables` in Python, `excludeTables` in Spark, which ignores case. Names follow MySQL's own tools
(`mysqlbinlog`, `mysql`) and Spark's own sources. An option that a surface does not have is empty in its column.

Options with several values take them separated by commas; on the command line they may also be repeated, in Python they
may be a list. Times are in UTC, on the command line in `--timezone`, unless they have a time zone:
`2026-11-15 09:30:00`, `2026-11-15T09:30:00+01:00`. Sizes have units in powers of 1024: `500000`, `64m`, `2 GB`.

This page is generated from the code: `python -m tools.options_page`.
"""


@dataclass
class Row:
    """An option on all surfaces: its name on each, where it exists there, and what it means."""

    names: dict[Surface, str] = field(default_factory=dict)
    meanings: list[str] = field(default_factory=list)
    default: str = ""

    def add(self, option: Option, name: str, where: str, surface: Surface) -> None:
        """Add a surface; if its meaning differs, both meanings are kept."""
        short = f", `{option.short}`" if option.short and surface is CLI else ""
        self.names[surface] = f"`{name}`{short}" + (f" ({where})" if where else "")
        meaning = option.help if not option.choices else f"{option.help} {_choices(option)}"
        if not self.meanings:
            self.meanings.append(meaning)
            self.default = option.default
        elif meaning not in self.meanings:
            self.meanings.append(f"{surface.value}: {meaning[0].lower()}{meaning[1:]}")

    def __str__(self) -> str:
        cells = [*(self.names.get(surface, "") for surface in Surface), " ".join(self.meanings), self.default]
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def page() -> str:
    """Return the page."""
    reading = (_selection(), _events(), _encrypted(), _scripts())
    sections = (*reading, _server(), _live(), _dump(), _spark(), _commands(), _old_names())
    return "\n".join(chain([INTRODUCTION], *sections))


def _choices(option: Option) -> str:
    return "(" + ", ".join(f"`{choice}`" for choice in option.choices) + ")"


def _selection() -> Iterator[str]:
    yield "## Selecting rows\n"
    yield _paragraph(
        "Commands `rows`, `tail`, `sql`, `export`, `events`, `transactions`, `stat`, `report`, `cut`, `diff`, "
        "`restore` and `dump`; `binspark.rows`, `binspark.batches` and `binspark.report`; Spark, in batch and in "
        "streams. What an option means for each command "
        "is in [command-line.md](command-line.md). `--skip-damaged` ([damage.md](damage.md)) is an option of `events`, "
        "`transactions`, `rows` and `export`, and of `binspark.events`; Spark's is `mode`."
    )
    yield _paragraph(
        "Spark reads complete transactions: there, positions are those where transactions begin, and times are commit "
        "times. In the view `events`, `tables`, `excludeTables`, `operations` and `threadId` do not apply."
    )
    rows = {}
    for option in (*SELECTION_OPTIONS, TABLE, SCHEMA_FILE, SKIP_DAMAGED, SHOW_SECRETS, TIMEZONE):
        rows[option.name] = _row(option, {CLI: _for_batches(option, "export"), PYTHON: _for_batches(option, "batches")})
    rows[TABLE.name].names[PYTHON] = f"`{TABLE.name}` (batches)"
    for option in SPARK_OPTIONS:
        if option.name in rows:
            rows[option.name].add(option, option.name_on(SPARK), "", SPARK)
    yield from _table(rows.values())


def _for_batches(option: Option, where: str) -> str:
    return where if isinstance(option, SelectionOption) and option.for_batches else ""


def _scripts() -> Iterator[str]:
    yield "## SQL scripts\n"
    yield _paragraph("Command `sql`; `binspark.sql`. The options that select rows are those above.")
    yield from _table([_row(option) for option in SCRIPT_OPTIONS])


def _encrypted() -> Iterator[str]:
    yield "## Reading encrypted logs\n"
    yield _paragraph(
        "All commands that read files; `binspark.events`, `binspark.rows` and `binspark.batches`; Spark, in batch and "
        "in streams of directories. See [encryption.md](encryption.md)."
    )
    yield from _table([_row(option) for option in KEYRING_OPTIONS])
    yield "## Reading compressed transactions\n"
    yield _paragraph(
        "All commands that read logs; in Python a function, `binspark.set_max_payload_bytes(…)`, because it is a limit "
        "of the process; Spark. See [limits.md](limits.md#files-and-events)."
    )
    yield from _table([_row(MAX_PAYLOAD_BYTES)])


def _server() -> Iterator[str]:
    yield "## Connecting to a server\n"
    yield _paragraph(
        "All commands that read logs, `archive` and `doctor`; `binspark.connect`, `binspark.follow` and "
        "`binspark.open_archiver`; Spark, to follow a server or to read the schemas of tables. An option file has the "
        "same names: `ssl-ca`."
    )
    yield from _table([_row(option) for option in SERVER_OPTIONS])


def _live() -> Iterator[str]:
    yield "## Following a server\n"
    yield _paragraph(
        "All commands that read logs, if they read a server, and `archive`; `binspark.follow` and "
        "`binspark.open_archiver`; Spark streams. An archive has `end` as the only value of `until`."
    )
    yield from _table([_row(option) for option in STREAM_OPTIONS])
    yield "## Archiving a server\n"
    yield "Command `archive`; `binspark.open_archiver`.\n"
    yield from _table([_row(option) for option in ARCHIVE_OPTIONS])
    yield "## Serving an archive\n"
    yield _paragraph("Command `serve`; `binspark.open_server`, which takes `password`, too. See [serve.md](serve.md).")
    yield from _table([_row(option) for option in SERVE_OPTIONS])
    yield "## Watching what runs\n"
    yield _paragraph(
        "Commands `archive`, `tail`, `mirror` and `serve`; `binspark.open_archiver`, `binspark.mirror`, "
        "`binspark.open_mirror` and `binspark.open_server`; Spark streams. See [operations.md](operations.md)."
    )
    yield from _table([_row(option) for option in METRICS_OPTIONS])
    yield "Command `status`, which asks what runs.\n"
    yield from _table([_row(option) for option in STATUS_OPTIONS])
    yield "## Exploring logs\n"
    yield "Command `explore`. See [explore.md](explore.md).\n"
    yield from _table([_row(option) for option in EXPLORE_OPTIONS])
    yield "## Mirroring tables\n"
    yield _paragraph(
        "Command `mirror`; `binspark.mirror`. The options of the connection are those above, and `tables`, "
        "`exclude_tables`, `zero_dates`, `undecodable` and `time` are those of rows; `time` is `string` if it is not "
        "given, because neither format has such an interval. See [mirror.md](mirror.md)."
    )
    yield from _table([_row(option) for option in MIRROR_OPTIONS])
    yield "## Checking a mirror\n"
    yield _paragraph(
        "Command `mirror` with `--check`; `binspark.check_mirror`, which takes `format`, `catalog` and the options of "
        "rows above, too. See [check.md](check.md)."
    )
    yield from _table([_row(option) for option in CHECK_OPTIONS])


def _dump() -> Iterator[str]:
    yield "## Dumping logs\n"
    yield _paragraph(
        "Command `dump`; the names and meanings are those of `mysqlbinlog` and `mariadb-binlog`. `--timezone` is "
        "`local` if it is not given."
    )
    yield from _table([_row(option) for option in _DUMP])


def _events() -> Iterator[str]:
    yield "## Reading events\n"
    yield _paragraph("Command `events`; `binspark.events`, as fields of `ReadOptions`; Spark, in the view `events`.")
    row = _row(next(option for option in SPARK_OPTIONS if option.name == "expand_payloads"))
    row.names |= {CLI: "`--expand-payloads`", PYTHON: "`expand_payloads`"}
    checksums, limits = Row({PYTHON: "`report_checksums`"}), Row({PYTHON: "`limits`"})
    checksums.meanings, checksums.default = ["Yield events whose checksum does not match, and mark them."], "false"
    limits.meanings = ["The maximum size that compressed bytes may expand to."]
    yield from _table([row, checksums, limits])


def _paragraph(text: str) -> str:
    return fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n"


def _row(option: Option, where: dict[Surface, str] | None = None) -> Row:
    row = Row()
    for surface in Surface:
        if surface in option.surfaces:
            row.add(option, option.name_on(surface), (where or {}).get(surface, ""), surface)
    return row


def _table(rows: Iterable[Row]) -> Iterator[str]:
    yield "| command line | Python | Spark | meaning | default |\n| --- | --- | --- | --- | --- |"
    yield from map(str, rows)
    yield ""


def _spark() -> Iterator[str]:
    tables = (*SELECTION_OPTIONS, TABLE, SCHEMA_FILE, *LOG_OPTIONS, *STREAM_OPTIONS, *METRICS_OPTIONS)
    listed = {option.name for option in tables}
    yield "## The Spark data source\n"
    yield "| Spark | meaning | default |\n| --- | --- | --- |"
    for option in SPARK_OPTIONS:
        if option.name not in listed and option.name != "expand_payloads":
            stream = " (streams)" if option.for_streams else ""
            meaning = option.help if not option.choices else f"{option.help} {_choices(option)}"
            yield f"| `{option.name_on(SPARK)}`{stream} | {meaning} | {option.default} |"
    yield "| `fs.*` | Options of the file system: `fs.region`, `fs.endpoint_override`, `fs.access_key`, … | |\n"


def click_options() -> dict[str, list[click.Option]]:
    """Return the options of each command."""
    context = click.Context(main)
    commands = {name: main.get_command(context, name) for name in COMMANDS}
    return {
        name: [param for param in command.params if isinstance(param, click.Option)]
        for name, command in commands.items()
        if command is not None
    }


def _commands() -> Iterator[str]:
    live = (*SERVER_OPTIONS, *STREAM_OPTIONS, *ARCHIVE_OPTIONS, *SERVE_OPTIONS, *METRICS_OPTIONS, *STATUS_OPTIONS)
    live_and_pages = (*live, *EXPLORE_OPTIONS, *MIRROR_OPTIONS, *CHECK_OPTIONS)
    of_logs = (*SELECTION_OPTIONS, SCHEMA_FILE, SKIP_DAMAGED, SHOW_SECRETS, *LOG_OPTIONS)
    tables = (*of_logs, *live_and_pages, *SCRIPT_OPTIONS, *_DUMP)
    listed = {"--expand-payloads", *(option.name_on(CLI) for option in tables if CLI in option.surfaces)}
    yield "## Options of single commands\n"
    yield "| command line | commands | meaning |\n| --- | --- | --- |"
    found: dict[tuple[str, str], list[str]] = {}
    for command, options in click_options().items():
        for option in options:
            if option.opts[-1] not in listed:
                name = ", ".join(f"`{each}`" for each in (*option.opts, *option.secondary_opts))
                meaning = " ".join((option.help or "").partition("  [")[0].split())
                found.setdefault((name, meaning), []).append(command)
    for (name, meaning), commands in found.items():
        yield f"| {name} | {', '.join(f'`{command}`' for command in commands)} | {meaning} |"
    yield ""


def old_names() -> Iterator[tuple[str, str, str]]:
    """Yield the old names that are still accepted: where, the old name, the new one."""
    found: dict[tuple[str, str], list[str]] = {}
    for command, options in click_options().items():
        for renamed in options:
            if isinstance(renamed, RenamedOption):
                for old, new in renamed.old_names.items():
                    found.setdefault((old, new.replace("=", " ")), []).append(f"`{command}`")
    yield from ((f"{CLI.value}: {', '.join(commands)}", old, new) for (old, new), commands in sorted(found.items()))
    for surface in (PYTHON, SPARK):
        for option in (*SELECTION_OPTIONS, SCHEMA_FILE, *SERVER_OPTIONS):
            if surface in option.old_names:
                yield surface.value, option.old_names[surface], option.name_on(surface)


def _old_names() -> Iterator[str]:
    yield "## Old names\n"
    yield "They are accepted with a warning, see [versions.md](versions.md). Old and new name together are an error.\n"
    yield "| surface | old | new |\n| --- | --- | --- |"
    for surface, old, new in old_names():
        yield f"| {surface} | `{old}` | `{new}` |"


if __name__ == "__main__":
    print(page())
