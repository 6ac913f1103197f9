"""Commands and their options, as click wants them, out of binspark's own tables of options."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import click

from binspark.cli.live import python_warnings_to
from binspark.cli.output import print_message
from binspark.cli.progress import progress_shown
from binspark.errors import BinlogError, OptionError
from binspark.frames import EventCode
from binspark.options import values
from binspark.options.keyring import KEYRING_OPTIONS, LOG_OPTIONS, MAX_PAYLOAD_BYTES
from binspark.options.option import Option, Surface, given_twice, renamed, suggestion
from binspark.options.server import SERVER_OPTIONS, STREAM_OPTIONS
from binspark.options.values import listed

_OF_SERVERS = frozenset(option.name for option in (*SERVER_OPTIONS, *STREAM_OPTIONS))

ASK = "\0ask"
"""The value of `--password` if none is given: it is asked for. No password contains a zero byte."""

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
_CLI = Surface.COMMAND_LINE
_AFTER = "binspark.after"


class RenamedOption(click.Option):
    """An option with old names, which are still accepted. `old_names` maps each to what replaces it."""

    def __init__(self, *arguments: Any, old_names: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.old_names = old_names


class Command(click.Command):
    """A command of binspark.

    It accepts the old names of its options, with a warning on standard error. If it reads log files, it has the options
    for encrypted and compressed ones, and everything that it reads is decrypted. If it takes long, it shows a progress
    bar on a terminal. An error of binspark ends it with one line on standard error and exit code 2 (wrong use) or 1,
    never with a traceback. An integer that it returns is the exit code.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        if any(isinstance(param, click.Argument) and _names_logs(param) for param in self.params):
            for option in LOG_OPTIONS:
                click_option(option)(self)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, with old names replaced."""
        new_names: dict[str, str] = {}
        for param in self.params:
            if isinstance(param, RenamedOption):
                new_names |= param.old_names
        if args == ["-h"]:  # a host needs a name, so this can only be a question
            args = ["--help"]
        asks_password = any(param.name == "password" for param in self.params)
        with _errors_end(ctx):
            words = _with_current_names(args, new_names)
            if asks_password:
                _check_password(words, takes_arguments=any(isinstance(param, click.Argument) for param in self.params))
                words = _with_password(words)
            return super().parse_args(ctx, words)

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Return the names of the option for help: `-h` is the host, as for MySQL's clients, if there is one."""
        has_host = any("-h" in param.opts for param in self.params)
        return ["--help"] if has_host else super().get_help_option_names(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options: those of a server after the others, if the command also reads files."""
        names = {param.name for param in self.params}
        reads_files = "host" in names and any(isinstance(param, click.Argument) for param in self.params)
        records: dict[bool, list[tuple[str, str]]] = {False: [], True: []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                records[reads_files and param.name in _OF_SERVERS].append(record)
        for is_of_server, title in ((False, "Options"), (True, "Options for a server")):
            if records[is_of_server]:
                with formatter.section(title):
                    formatter.write_dl(records[is_of_server])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and exit with the code that it returns."""
        with (
            _errors_end(ctx),
            progress_shown(),
            python_warnings_to(print_message),
            _keyring(ctx.params),
            _payload_limit(ctx.params),
        ):
            result = super().invoke(ctx)
        for act in ctx.meta.get(_AFTER, ()):
            act()
        if isinstance(result, int):
            ctx.exit(result)
        return result


def after_command(act: Callable[[], None]) -> None:
    """Call `act` when the current command has ended without an error."""
    click.get_current_context().meta.setdefault(_AFTER, []).append(act)


def keyring_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command whose arguments may be logs the options of all that read logs; it does not receive them."""
    for option in reversed(LOG_OPTIONS):
        command = click_option(option)(command)
    return command


def _names_logs(argument: click.Argument) -> bool:
    return any(word in (argument.metavar or "") for word in ("FILE", "LOG", "PATH", "ARCHIVE"))


@contextmanager
def _keyring(parameters: dict[str, Any]) -> Iterator[None]:
    """Use the keyring that the command line names for all logs that the command reads."""
    file, password_file = (parameters.pop(option.name, None) for option in KEYRING_OPTIONS)
    if file is None and password_file is None:
        yield
        return
    from binspark.files.keyring_file import keyring_storage
    from binspark.files.storage.options import default_keyring

    storage = keyring_storage(file, password_file)
    with default_keyring(storage.keyring if storage else None):
        yield


@contextmanager
def _payload_limit(parameters: dict[str, Any]) -> Iterator[None]:
    """Use the limit that the command line has for everything that the command decompresses."""
    limit = parameters.pop(MAX_PAYLOAD_BYTES.name, None)
    if limit is None:
        yield
        return
    from binspark.frames.payload import max_payload_bytes, set_max_payload_bytes  # loads zstandard

    before = max_payload_bytes()
    set_max_payload_bytes(limit)
    try:
        yield
    finally:
        set_max_payload_bytes(before)


@contextmanager
def _errors_end(context: click.Context) -> Iterator[None]:
    try:
        yield
    except OptionError as error:
        print_message(_as_typed(error))
        context.exit(2)
    except BinlogError as error:
        print_message(error)
        context.exit(1)


def _as_typed(error: OptionError) -> OptionError:
    """Return an error with its option as the command line writes it; the library knows the name in Python."""
    if error.option is None or error.option.startswith("--"):
        return error
    return error.spelled(_CLI.spell(error.option))


def _with_password(words: list[str]) -> list[str]:
    """Return the words of a command line with `-p`, `-pVALUE` and `--password` as MySQL's clients understand them.

    The value is attached to the option. Without a value, the password is asked for; the next word is not the password.
    """
    end = words.index("--") if "--" in words else len(words)
    return [_password(word) for word in words[:end]] + words[end:]


def _check_password(words: list[str], *, takes_arguments: bool) -> None:
    """Refuse a password that is a word of its own, as far as that can be known: it would be taken for a log."""
    for option, word in pairwise(words):
        if option == "--":
            return
        if option in ("-p", "--password") and not word.startswith("-") and not (takes_arguments and _is_log(word)):
            problem = "takes a value only without a space (--password=TEXT or -pTEXT); without a value, it is asked for"
            raise OptionError(problem, option="--password")


def _is_log(word: str) -> bool:
    return any(sign in word for sign in "*?[:/") or word == "-" or os.path.exists(word)


def _password(word: str) -> str:
    if word in ("-p", "--password"):
        return f"--password={ASK}"
    return f"--password={word[2:]}" if word.startswith("-p") else word


def _with_current_names(words: list[str], new_names: Mapping[str, str]) -> list[str]:
    """Return the words of a command line with old names, such as `--table` or `--table=…`, replaced.

    After `--` all words are arguments. An old name beside its new one is an error: which of them counts is not clear.
    """
    end = words.index("--") if "--" in words else len(words)
    given = {word.partition("=")[0] for word in words[:end]}
    for old in given & new_names.keys():
        new = new_names[old].partition("=")[0]
        if new in given:
            raise OptionError(given_twice(old, new))
        print_message(renamed(old, new_names[old].replace("=", " ")))
    return [_current_name(word, new_names) for word in words[:end]] + words[end:]


def _current_name(word: str, new_names: Mapping[str, str]) -> str:
    name, equals, value = word.partition("=")
    return new_names.get(name, name) + equals + value


def click_option(option: Option, *, parse: bool = True, **settings: Any) -> Decorator:
    """Return the decorator that gives a command an option of one of binspark's tables.

    The command receives the parsed value; with `parse=False`, what was typed. `settings` are click's, and win.
    """
    name = option.name_on(_CLI)
    arguments: dict[str, Any] = {"help": _help(option, with_default="default" not in settings)}
    if not option.metavar:
        arguments["is_flag"] = True
    elif option.choices:
        arguments["type"] = click.Choice(option.choices, case_sensitive=False)
    else:
        arguments["metavar"] = option.metavar
    if option.is_list:
        arguments["multiple"] = True
    if parse:
        arguments["callback"] = _parser(option)
    if _CLI in option.old_names:
        arguments |= {"cls": RenamedOption, "old_names": {option.old_names[_CLI]: name}}
    names = (name,) if not option.short else (option.short, name)
    return click.option(*names, option.name, **{**arguments, **settings})


def _help(option: Option, *, with_default: bool) -> str:
    text = option.help + (" May be repeated." if option.is_list else "")
    if with_default and option.metavar and option.default not in ("", "all", "none", "no limit"):
        text += f"  [default: {option.default}]"
    return text


def _parser(option: Option) -> Callable[[click.Context, click.Parameter, Any], Any]:
    def parse(_context: click.Context, _parameter: click.Parameter, value: Any) -> Any:
        return None if value is None or value == () else option.read(value, _CLI)

    return parse


logs_argument = click.argument("files", nargs=-1, required=True, metavar="FILE…")

_FORMATS = {
    "text": "text for people",
    "html": "html (one page)",
    "json": "json (one document)",
    "jsonl": "jsonl (one JSON object per line)",
}


def format_option(*formats: str) -> Decorator:
    """Return the decorator for `--format`: the first is the default. Names have the same meaning for all commands."""
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help=f"The format of the output: {listed(_FORMATS[name] for name in formats)}.",
    )


types_option = click.option(
    "--type", "types", multiple=True, metavar="NAME,…", help="Show only events of these types. May be repeated."
)

# A name that means the same type of event in MySQL and in MariaDB.
_SAME_TYPES = {"GTID": (EventCode.GTID, EventCode.GTID_TAGGED, EventCode.MARIADB_GTID)}


def type_codes(typed: Iterable[str]) -> frozenset[int]:
    """Return the type codes for the values of `--type`."""
    return frozenset(code for name in values.names(typed) for code in _codes(name))


def _codes(name: str) -> tuple[int, ...]:
    known = name.upper().removesuffix("_EVENT")
    if known in _SAME_TYPES:
        return _SAME_TYPES[known]
    if known in EventCode.__members__:
        return (EventCode[known],)
    hint = suggestion(known, EventCode.__members__)
    raise OptionError(f"must be the name of an event type, got {name!r}{hint}", option="--type")
