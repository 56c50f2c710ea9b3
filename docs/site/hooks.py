"""What the site's builder does besides: formulas, the notebook, and reference tables that come from the code."""

from __future__ import annotations

import html
import json
import re
import sys
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))

import reference

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
"""A formula as the Markdown extension `arithmatex` leaves it: `\\(inline\\)` or `\\[display\\]`."""
GENERATED = re.compile(r"<!-- generated: (\w+) -->")
"""Where a table of `reference` goes."""
SOURCE = re.compile(r"\[([^\]]+)\]\(\.\./(?:src|tests|CHANGELOG\.md)[^)]*\)")
"""A link to a file of the repository, which is not part of the site."""


def on_files(files: Files, config: Any) -> Files:
    """Add the notebook as a page."""
    notebook = Path(config["docs_dir"]) / "tutorial.ipynb"
    files.append(File.generated(config, "tutorial.md", content=notebook_page(notebook)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in the tables that come from the code, and show links to sources as names."""
    markdown = GENERATED.sub(lambda found: reference.TABLES[found[1]](), markdown)
    return SOURCE.sub(lambda found: f"`{found[1]}`", markdown)


def on_page_content(content: str, **_: Any) -> str:
    """Turn every formula into MathML, which browsers draw and screen readers read without a script."""
    return FORMULA.sub(_mathml, content)


def notebook_page(path: Path) -> str:
    """A notebook as Markdown: its texts, its code, and what the code printed and drew."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += map(_output, cell["outputs"])
    return "\n\n".join(parts)


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        return f"![What the code above draws](data:image/png;base64,{''.join(data['image/png']).strip()})"
    text = "".join(output.get("text", data.get("text/plain", "")))
    return f"```text\n{text.rstrip()}\n```"


def _mathml(found: re.Match[str]) -> str:
    return convert(html.unescape(found[2]), display="block" if found[1] == "div" else "inline")
