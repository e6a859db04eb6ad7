"""The option `--lang` of commands whose sentences are there in several languages."""

from __future__ import annotations

import click

from klinic.diagnostics.language import LANGUAGES, Lang, speaking


def _speak(context: click.Context, _param: click.Parameter, lang: Lang) -> Lang:
    """Everything that the command says until it ends is in this language."""
    context.with_resource(speaking(lang))
    return lang


lang_option = click.option(
    "--lang",
    type=click.Choice(LANGUAGES),
    default="en",
    show_default=True,
    callback=_speak,
    expose_value=False,
    help="Language of the texts.",
)
