"""Print the script that teaches a shell to complete klinic's commands, options and names."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    Put `eval "$(klinic completion bash)"` into ~/.bashrc (the same with zsh into ~/.zshrc), or write
    `klinic completion fish` to ~/.config/fish/completions/klinic.fish.
    """
    from click.shell_completion import get_completion_class

    from klinic.diagnostics.cli import main

    script = get_completion_class(shell)
    if script is None:
        raise click.ClickException(f"this click has no completion for {shell}")
    click.echo(script(main, {}, "klinic", "_KLINIC_COMPLETE").source())
