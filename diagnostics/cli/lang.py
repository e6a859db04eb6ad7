"""The option `--lang` of commands whose sentences are there in several languages."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from klinic.diagnostics.language import LANGUAGES, Lang, use_language

OPTION, VARIABLE = "--lang", "KLINIC_LANG"


def asked(args: Sequence[str]) -> Lang:
    """The language that a command line or the variable asks for; what is wrong with either, the option says.

    It is known before anything is parsed, so that a mistake in the command line is told in it too.
    """
    given = [
        after if word == OPTION else word.partition("=")[2]
        for word, after in zip(args, [*args[1:], ""], strict=False)
        if word.partition("=")[0] == OPTION
    ]
    word = given[-1] if given else os.environ.get(VARIABLE, "")
    return next((lang for lang in LANGUAGES if lang == word), "en")


def _speak(context: click.Context, _param: click.Parameter, lang: Lang) -> Lang:
    """Everything that the command says until it ends is in this language."""
    context.with_resource(use_language(lang))
    return lang


lang_option = click.option(
    OPTION,
    type=click.Choice(LANGUAGES),
    default="en",
    show_default=True,
    envvar=VARIABLE,
    callback=_speak,
    expose_value=False,
    help=f"Language of the texts; {VARIABLE} sets it too.",
)
