"""A click group that finds its commands by entry point, imports them on use, and keeps every error to one line."""

from __future__ import annotations

import ast
import contextlib
import gc
import os
import signal
import sys
import tokenize
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from importlib.metadata import EntryPoint, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import click

from klinic.diagnostics.cli.emptywords import refuse_empty
from klinic.diagnostics.entries import entry_points
from klinic.diagnostics.suggest import nearest

COMMANDS = "klinic.commands"
CANNOT_JUDGE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
BLAS = "OPENBLAS_NUM_THREADS"
BEFORE = (tokenize.ENCODING, tokenize.COMMENT, tokenize.NL)  # what may stand before a docstring


def fail(message: str, code: int = CANNOT_JUDGE) -> NoReturn:
    """Say in one line on stderr what went wrong and leave with `code`."""
    say(message)
    raise SystemExit(code)


def say(message: str) -> None:
    """A message on stderr, in the language that is spoken: one line, whatever a path or a name in it holds."""
    from klinic.diagnostics.language import translated

    line = translated(" ".join(message.encode("utf-8", "replace").decode().split()))
    shown = "".join(sign if sign.isprintable() else "?" for sign in line)
    try:
        click.echo(f"klinic: {shown}", err=True)
    except OSError:  # nobody can be told; the exit code still says it, where the interpreter can flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


@contextlib.contextmanager
def _without_blas_threads() -> Iterator[None]:
    """Where numpy is imported: its linear algebra, which klinic does not use, else starts a thread for each core more,
    which turns for some 50 ms before it sleeps. What klinic starts later gets the environment as it was."""
    if BLAS in os.environ:
        yield
        return
    os.environ[BLAS] = "1"
    try:
        yield
    finally:
        os.environ.pop(BLAS, None)


def _summary(entry: EntryPoint) -> str:
    """First line of the docstring of the command's module, of which no more is read."""
    try:
        spec = find_spec(entry.module)
        with Path(spec.origin if spec and spec.origin else os.devnull).open("rb") as source:
            first = next(one for one in tokenize.tokenize(source.readline) if one.type not in BEFORE)
        doc = ast.literal_eval(first.string) if first.type == tokenize.STRING else ""
    except (ImportError, OSError, SyntaxError, ValueError):
        return ""
    return str(doc).partition("\n")[0].rstrip(".")


def _print_version(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        click.echo(f"klinic {version('klinic')}")
        context.exit()


def heed_ctrl_c() -> None:
    """Let Ctrl-C end a blocking read; call it once polars is imported, whose handler makes reads start over."""
    with contextlib.suppress(ValueError):  # not in the main thread: Ctrl-C does not come here
        signal.siginterrupt(signal.SIGINT, True)


class Klinic(click.Group):
    """The `klinic` command. Errors are one line; exit 2 cannot judge, 130 Ctrl-C, 141 the reader of stdout left."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, **settings)
        self.params.append(
            click.Option(
                ["--version"],
                is_flag=True,
                expose_value=False,
                is_eager=True,
                callback=_print_version,
                help="Show the version and exit.",
            )
        )

    @staticmethod
    def _entries() -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in entry_points(group=COMMANDS)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands that are installed."""
        return sorted({*self._entries(), *self.commands})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command, None where there is none of that name."""
        entry = self._entries().get(cmd_name)
        if entry is None:
            return super().get_command(ctx, cmd_name)
        try:
            with _without_blas_threads():
                command: click.Command = entry.load()
        except (ImportError, AttributeError) as error:
            raise click.ClickException(f"the command {cmd_name} cannot be loaded: {error}") from error
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, but an unknown command gets the nearest known names."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"no command {args[0]!r}{nearest(args[0], self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; Ctrl-C is one line, and nothing more is said where the reader of stdout has left."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.Abort from None  # click would say an empty line before it
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or the interpreter complains when it flushes stdout
            raise SystemExit(BROKEN_PIPE) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List commands with their modules' first lines; nothing is imported."""
        rows = [(name, _summary(entry)) for name, entry in sorted(self._entries().items())]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command; in standalone mode every error is one line and an exit code."""

        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # closed by the caller: what is said goes nowhere
                setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115

        words = sys.argv[1:] if args is None else args

        def run() -> Any:
            refuse_empty(words)
            return super(Klinic, self).main(words, prog_name or "klinic", complete_var, standalone_mode=False, **extra)

        if standalone_mode:  # a command's objects live until it ends: looking for garbage among them finds little
            gc.set_threshold(200_000, 20, 20)
        return _guarded(run, words) if standalone_mode else run()


def _guarded(run: Callable[[], Any], words: Sequence[str]) -> NoReturn:
    """Leave with the command's exit code; what ends it is told in the language that its words ask for."""
    try:
        result = copy_context().run(run)  # what --lang sets ends here, also where the words behind it are no command
        gc.freeze()  # nor is it looked for where the interpreter ends
    except Exception as error:
        if os.environ.get("KLINIC_TRACEBACK") and not isinstance(error, click.ClickException | click.Abort):
            raise
        _told(error, words)
    except KeyboardInterrupt as error:
        _told(click.Abort(*error.args), words)
    raise SystemExit(result if isinstance(result, int) else 0)


def _told(error: Exception, words: Sequence[str]) -> NoReturn:
    """Say in one line what ended a command, in the language that its words ask for, and leave."""
    from klinic.diagnostics.cli.lang import asked
    from klinic.diagnostics.language import use_language

    with use_language(asked(words)):
        _leave(error)


def _leave(error: Exception) -> NoReturn:
    from klinic.diagnostics.language import tr, translated

    match error:
        case click.exceptions.NoArgsIsHelpError():  # `klinic` or `klinic rules` alone: its message is the help
            click.echo(error.format_message(), err=True)
            raise SystemExit(error.exit_code)
        case click.UsageError():
            where = error.ctx.command_path if error.ctx else "klinic"
            said = translated(_lowered(error.format_message()).rstrip("."))
            fail(tr("{} (see {} --help)", said, where), error.exit_code)
        case click.ClickException():
            fail(error.format_message(), CANNOT_JUDGE)
        case click.Abort():
            fail("interrupted", INTERRUPTED)
        case OSError():
            fail(f"{error.filename or 'output'}: {(error.strerror or str(error)).lower()}")
    fail(f"internal error: {type(error).__name__}: {error} (KLINIC_TRACEBACK=1 shows where)")


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:]
