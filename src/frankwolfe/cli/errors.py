"""Errors as one line, never a traceback unless it is asked for."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130

Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.", rich_help_panel=None)]


def polite(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command: what the user can mend becomes one line on stderr and exit code 2; Ctrl-C is exit code 130.

    Anything else is one line too, with exit code 1. The option --debug is added, which shows the traceback.
    """

    @functools.wraps(command)
    def wrapped(*args: Any, debug: bool = False, **kwargs: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = _one_line
                return command(*args, **kwargs)
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt:
            _say("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:  # the reader, `head` say, has had enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except (ValueError, TypeError, ImportError, OSError) as error:  # DatasetError is a ValueError
            if debug:
                raise
            _say(_message(error))
            raise typer.Exit(BAD_INPUT) from None
        except Exception as error:
            if debug:
                raise
            _say(f"{type(error).__name__}: {_message(error)} (this should not happen; --debug shows where)")
            raise typer.Exit(FAILED) from None

    given = inspect.signature(command, eval_str=True)  # typer does not look into text behind a signature
    option = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Debug)
    wrapped.__signature__ = given.replace(parameters=[*given.parameters.values(), option])  # pyright: ignore[reportAttributeAccessIssue]
    wrapped.__annotations__ = {name: p.annotation for name, p in given.parameters.items()} | {"debug": Debug}
    return wrapped


def _message(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def _say(text: str) -> None:
    typer.echo(f"frankwolfe: {text}", err=True)


def _one_line(message: Any, category: type[Warning], filename: str, lineno: int, *_: Any) -> None:
    if issubclass(category, UserWarning):  # those meant for users; not a library's talk of its future
        _say(f"warning: {' '.join(str(message).split())}")
