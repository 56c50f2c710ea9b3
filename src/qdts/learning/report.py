"""The report of a run: one HTML page with pictures, which needs nothing beside it."""

from __future__ import annotations

import html

from qdts.files import write_whole
from qdts.learning.run import Run


def write_report(run: Run) -> None:
    """Write the page anew."""
    text = f"<!doctype html><title>{html.escape(run.game.spec)}</title>"
    write_whole(run.report, lambda file: file.write(text.encode()))
