"""The command line: one module for each command, imported when the command runs."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import click

from compilelint import __version__
from compilelint.cli import console

# command → module that holds a click command of the same name, and the line shown by `compilelint --help`
COMMANDS = {
    "check": ("compilelint.cli.check", "Find graph breaks and hidden syncs in files and folders."),
    "fix": ("compilelint.cli.fix", "Show, or write, rewrites of what check finds."),
    "verify": ("compilelint.cli.verify", "Run a target before and after a change and compare."),
    "trace": ("compilelint.cli.trace", "Run a program and see which findings come true, and what else happens."),
    "budget": ("compilelint.cli.budget", "Run a target and fail where its breaks, syncs or kernels grew."),
    "server": ("compilelint.cli.server", "Serve an editor: findings as you type, fixes, explanations."),
    "rule": ("compilelint.cli.rule", "Explain a rule."),
    "rules": ("compilelint.cli.rules", "List all rules."),
    "config": ("compilelint.cli.config", "Show the settings in effect and where they come from."),
    "clean": ("compilelint.cli.clean", "Remove what earlier runs found and kept."),
    "demo": ("compilelint.cli.demo", "See it at work on a small training project."),
}


class Commands(click.Group):
    """Imports a command's module only when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(COMMANDS[cmd_name][0]), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from compilelint.errors import did_you_mean

            near = did_you_mean(args[0], COMMANDS)
            if Path(args[0]).exists():
                near = f" (to check a path: `compilelint check {args[0]}`)"
            raise click.UsageError(f'no command "{args[0]}"{near}', ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", message="compilelint %(version)s")
def compilelint() -> None:
    """Finds where torch.compile breaks the graph and where the CPU waits for the GPU, from source, and fixes it."""


def main() -> None:
    """The `compilelint` script: runs a command and exits with its code."""
    console.prepare()
    try:
        code = compilelint.main(prog_name="compilelint", standalone_mode=False)
    except click.exceptions.Abort:
        code = 130
    except click.ClickException as error:
        error.show()
        code = 2
    except BrokenPipeError:
        console.discard_output()
        code = 141
    except Exception as error:  # noqa: BLE001  # told with its traceback
        code = console.fail(error)
    sys.exit(code if isinstance(code, int) else 0)
