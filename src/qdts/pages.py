"""Pages of the documentation with tables that are filled from figures.

A page is written by hand. A block of it, the text between two comments on lines of their own, is filled:

    <!-- ablations: game leduc_poker -->
    <!-- end -->

Here `ablations` is the kind of figures, `game` the name of a block, and the rest is what the block is about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from qdts.errors import InputError, unknown
from qdts.files import write_whole

BLOCK = r"(?P<begin><!-- {kind}: (?P<title>[^\n]*?) -->\n).*?(?P<end><!-- end -->)"
NOTHING = "–"
Blocks = Mapping[str, Callable[[str], str]]
"""From what a block is about to its text, by the names of blocks."""


def fill_page(page: Path, kind: str, blocks: Blocks) -> None:
    """Fill every block of a kind in the file of a page."""
    new = filled(read_page(page), page, kind, blocks)
    write_whole(page, lambda file: file.write(new.encode()))


def read_page(page: Path) -> str:
    """The text of a page."""
    try:
        return page.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot read '{page}': {error.strerror or error}") from error


def filled(text: str, page: Path, kind: str, blocks: Blocks) -> str:
    """The text of a page with every block of a kind filled; `page` names it in errors."""
    if not names_in(text, kind):
        example = f"<!-- {kind}: {next(iter(blocks))} -->"
        raise InputError(f"'{page}' has no place for figures, expected lines like {example} and <!-- end -->")

    def fill(match: re.Match[str]) -> str:
        name, _, of = match["title"].partition(" ")
        if name not in blocks:
            raise unknown(f"block of '{page}'", name, blocks)
        return f"{match['begin']}\n{blocks[name](of)}\n{match['end']}"

    return _pattern(kind).sub(fill, text)


def names_in(text: str, kind: str) -> list[tuple[str, str]]:
    """The blocks of a kind in a text: their names, and what they are about."""
    titles = [match["title"].partition(" ") for match in _pattern(kind).finditer(text)]
    return [(name, of) for name, _, of in titles]


def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(BLOCK.format(kind=re.escape(kind)), re.DOTALL)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: bool = False) -> str:
    """A table in Markdown; with `right` all columns but the first are aligned to the right."""
    lines = [head, ["---", *["---:" if right else "---"] * (len(head) - 1)], *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
