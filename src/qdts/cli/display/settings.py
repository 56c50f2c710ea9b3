"""All settings of a run, as a table: names, values and what they mean."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rich.console import Console

    from qdts.learning.config import Config


class Setting(NamedTuple):
    """Settings that share one meaning, such as the first and the last value of one thing."""

    names: list[str]
    values: list[Any]
    meaning: str
    expected: str


def settings(config: Config) -> list[Setting]:
    """All settings, section by section, in the order in which they are written down."""
    from qdts.learning.config import BOUNDS, WORDS, flat

    values = flat(config)
    found = []
    for section in config.as_dict():
        for keys, meaning in _described(type(getattr(config, section))):
            names = [f"{section}.{key}" for key in keys]
            expected = BOUNDS[names[0]][2] if names[0] in BOUNDS else ", ".join(WORDS.get(names[0], ()))
            found.append(Setting(names, [values[name] for name in names], meaning, expected))
    return found


def _described(section: type) -> Iterator[tuple[list[str], str]]:
    """The fields of a class with the text that follows them; several in a row share the one after the last."""
    [body] = ast.parse(inspect.getsource(section)).body
    assert isinstance(body, ast.ClassDef)
    names: list[str] = []
    for node in body.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.append(node.target.id)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and names:
            yield names, " ".join(str(node.value.value).split())
            names = []


def words(value: Any) -> str:
    """A value as `--set` takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def show(screen: Console, config: Config, whose: str) -> None:
    """Print them."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    table = Table("setting", "value", "meaning", box=SIMPLE_HEAD, pad_edge=False, title_justify="left")
    section = ""
    for setting in settings(config):
        if section != (section := setting.names[0].partition(".")[0]):
            table.add_section()
        expected = f" [dim]({escape(setting.expected)})[/]" if setting.expected else ""
        meaning = escape(setting.meaning.replace("`", ""))
        table.add_row("\n".join(setting.names), "\n".join(map(words, setting.values)), f"{meaning}{expected}")
    screen.print(f"[bold]Settings of {escape(whose)}[/]; --set NAME=VALUE changes one")
    screen.print(table)
