"""All settings of a run, as a table: names, values and what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from qdts.learning.config import Config


def words(value: Any) -> str:
    """A value as `--set` takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def show(screen: Console, config: Config, whose: str) -> None:
    """Print the settings, section by section."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    from qdts.learning.config import SETTINGS, flat

    table = Table("setting", "value", "meaning", box=SIMPLE_HEAD, pad_edge=False, title_justify="left")
    values, section = flat(config), ""
    for name, setting in SETTINGS.items():
        if section != (section := name.partition(".")[0]):
            table.add_section()
        expected = f" [dim]({escape(setting.expected)})[/]" if setting.expected and not setting.choices else ""
        table.add_row(name, words(values[name]), f"{escape(setting.meaning)}{expected}")
    screen.print(f"[bold]Settings of {escape(whose)}[/]; --set NAME=VALUE changes one")
    screen.print(table)
