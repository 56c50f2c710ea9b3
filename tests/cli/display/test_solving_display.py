"""The progress of `qdts solve`: the live display, and the heartbeat."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from cli.running import Output
from qdts.cli.display import progress, solving
from qdts.cli.display.solving import Display
from qdts.solving.solver import Point
from qdts.solving.tree.enumeration import Progress


def test_the_live_display_shows_figures_and_curve() -> None:
    screen = Console(file=io.StringIO(), force_terminal=True, width=100, height=30)
    with Display(screen, goal=8) as display:
        display.begin("solving")
        display.enumerated(Progress(1234, 56))
        display.measured(Point(1, 0.5, 1.0))
        display.measured(Point(4, 2.0, 0.125))
        with screen.capture() as capture:
            screen.print(display.render())
    text = re.sub(r"\x1b\[[\d;]*m", "", capture.get())
    for words in ("solving", "1,234 histories, 56 information sets", "iteration 4", "NashConv 0.125", "2 iterations/s"):
        assert words in text
    assert "⠉" in text


@pytest.mark.parametrize("kind", [solving.Silent, solving.Lines])
def test_long_work_is_reported_on_standard_error(
    kind: type[solving.Silent], capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "BEAT_SECONDS", 0.01)
    with kind() as watch:
        watch.begin("importing")
        watch.imported(12345)
        watch.over.wait(0.1)
        watch.begin("enumerating")
        watch.enumerated(Progress(1234, 56))
        watch.over.wait(0.1)
        watch.measured(Point(4, 2.0, 0.125))
        watch.over.wait(0.1)
    told = capsys.readouterr().err
    for words in ("importing, 12,345 histories", "1,234 histories, 56 information sets", "iteration 4, NashConv 0.125"):
        assert words in told
    assert all(line.startswith("qdts: ") for line in told.splitlines())
