"""Reference tables in Markdown, made from the code that they describe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

import click
from qdts.learning.metrics import METRICS
from typer.main import get_command

from qdts.cli.app import app
from qdts.cli.display.settings import words
from qdts.learning.config import SETTINGS, Config, flat
from qdts.search.options.description import Choice, Number
from qdts.search.options.named import SEARCHES
from qdts.search.options.options import DESCRIPTIONS, Options


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table; a bar inside of a cell is escaped."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def searches() -> str:
    """The named searches: what each is, and how it differs from `qdts`."""
    usual = SEARCHES["qdts"].options

    def changes(options: Options) -> str:
        changed = (f for f in fields(Options) if getattr(options, f.name) != getattr(usual, f.name))
        return ", ".join(f"`{f.name}={words(getattr(options, f.name))}`" for f in changed)

    rows = ((f"`{name}`", search.help, changes(search.options)) for name, search in SEARCHES.items())
    return table(("search", "what it is", "options that differ from those of `qdts`"), rows)


def options() -> str:
    """The options of a search, with their defaults, variants and bounds."""
    defaults = Options()
    rows = []
    for name, description in DESCRIPTIONS.items():
        help_ = description.help
        if isinstance(description, Choice):
            help_ += "<br>" + "<br>".join(f"`{v}`: {v.help}" for v in description.variants)
        elif isinstance(description, Number):
            help_ += f" ({description.bounds.words})"
        rows.append((f"`{name}`", f"`{words(getattr(defaults, name))}`", help_, ", ".join(description.readers)))
    return table(("option", "default", "meaning", "read by"), rows)


def settings() -> str:
    """The settings of a run, with the values of the default preset."""
    values = flat(Config())
    rows = (
        (f"`{name}`", f"`{words(values[name])}`", setting.meaning, setting.expected)
        for name, setting in SETTINGS.items()
    )
    return table(("setting", "default", "meaning", "expected"), rows)


def metrics() -> str:
    """What a line of metrics.jsonl holds."""
    rows = ((f"`{m.name}`", m.label, m.unit, m.meaning) for m in METRICS if not m.derived)
    return table(("name", "label", "unit", "meaning"), rows)


def commands() -> str:
    """The help text of every command."""
    return "\n\n".join(f"### {name}\n\n```text\n{text}\n```" for name, text in _help(get_command(app), "qdts"))


def _help(command: Any, name: str) -> Iterator[tuple[str, str]]:
    """The name and the help text of a command and of those below it."""
    context = click.Context(command, info_name=name, max_content_width=100, terminal_width=100)
    subcommands = getattr(command, "commands", {})
    if not subcommands or name == "qdts":
        parameters = [p.get_help_record(context) for p in command.get_params(context)]
        width = max((len(p[0]) for p in parameters if p), default=0)
        lines = [f"{p[0]:<{width}}  {p[1]}".rstrip() for p in parameters if p]
        usage = command.get_usage(context).removeprefix("Usage: ")
        yield name, "\n".join([usage, "", (command.help or "").strip(), "", *lines]).strip()
    for sub in subcommands:
        yield from _help(subcommands[sub], f"{name} {sub}")


TABLES: Mapping[str, Callable[[], str]] = {
    "searches": searches,
    "options": options,
    "settings": settings,
    "metrics": metrics,
    "commands": commands,
}
"""What a page may ask for, as `<!-- generated: NAME -->`."""
