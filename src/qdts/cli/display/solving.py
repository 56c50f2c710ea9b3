"""What a person sees while a game is solved: a live display, or plain lines."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

from qdts.cli.display import chart
from qdts.cli.display.output import console, number

if TYPE_CHECKING:
    from rich.console import Console, Group

    from qdts.solving.solver import Point
    from qdts.solving.tree.enumeration import Progress

CHART_ROWS = 8
BEAT_SECONDS = 3.0
"""How often a line is written where there is no live display."""


class Silent:
    """Nothing on standard output, but every few seconds a line on standard error: what is being done, how far it is."""

    def __init__(self) -> None:
        self.stage, self.size = "", ""
        self.started = time.perf_counter()
        self.over = threading.Event()
        self.beat = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Silent:
        self.beat.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self.beat.join()

    def _beat(self) -> None:
        while not self.over.wait(BEAT_SECONDS):
            parts = (self.stage, self.size, f"{time.perf_counter() - self.started:.0f} s")
            print("qdts:", ", ".join(part for part in parts if part), file=sys.stderr, flush=True)

    def begin(self, stage: str) -> None:
        """Something new is being done."""
        self.stage, self.size = stage, ""

    def imported(self, histories: int) -> None:
        """The walk over another's rules came so far."""
        self.size = f"{histories:,} histories"

    def enumerated(self, progress: Progress) -> None:
        """The walk over the rules came so far."""
        self.size = f"{progress.histories:,} histories, {progress.infosets:,} information sets"

    def measured(self, point: Point) -> None:
        """NashConv is known after so many iterations."""
        self.size = f"iteration {point.iterations:,}, NashConv {number(point.nash_conv)}"


class Lines(Silent):
    """Plain lines besides, one each time that the number of iterations has doubled."""

    def __init__(self) -> None:
        super().__init__()
        self.told = 0

    def begin(self, stage: str) -> None:
        """A line of its own."""
        super().begin(stage)
        print(stage, flush=True)

    def measured(self, point: Point) -> None:
        """The figures in one line."""
        super().measured(point)
        if point.iterations >= 2 * self.told:
            self.told = point.iterations
            print(
                f"iteration {point.iterations:>9,}   NashConv {number(point.nash_conv):>9}   {point.seconds:.2f} s",
                flush=True,
            )


class Display(Silent):
    """A live display: what is being done, for how long, the newest figures and the curve so far."""

    def __init__(self, screen: Console, goal: int) -> None:
        from rich.live import Live
        from rich.spinner import Spinner

        super().__init__()
        self.goal = goal
        self.points: list[Point] = []
        self.spinner = Spinner("dots")
        self.live = Live(console=screen, get_renderable=self.render, refresh_per_second=8, transient=True)

    def __enter__(self) -> Display:
        self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.live.stop()

    def begin(self, stage: str) -> None:
        """The words beside the spinner."""
        from rich.text import Text

        self.spinner.update(text=Text(stage))

    def measured(self, point: Point) -> None:
        """One more point of the curve."""
        self.points.append(point)

    def render(self) -> Group:
        """The display as it stands."""
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        top = Table.grid(padding=(0, 2))
        top.add_row(self.spinner, f"[dim]{self.size}[/]", f"{time.perf_counter() - self.started:.0f} s")
        if not self.points:
            return Group(top)
        newest = self.points[-1]
        figures = Table.grid(padding=(0, 3))
        figures.add_row(
            f"iteration [bold]{newest.iterations:,}[/]",
            ProgressBar(total=self.goal, completed=newest.iterations, width=24),
            f"NashConv [bold green]{number(newest.nash_conv)}[/]",
            f"{newest.iterations / max(newest.seconds, 1e-9):,.0f} iterations/s",
        )
        lines = Text("\n".join(curve(self.points, CHART_ROWS)), style="cyan")
        return Group(top, figures, lines, Text("Ctrl-C stops here and keeps what there is", style="dim"))


def curve(points: list[Point] | tuple[Point, ...], height: int = 12) -> list[str]:
    """NashConv against iterations, as text."""
    return chart.log_log(((p.iterations, p.nash_conv) for p in points), height=height)


def watcher(goal: int, *, silent: bool) -> Silent:
    """Progress in the way that fits where the output goes."""
    if silent:
        return Silent()
    screen = console()
    return Display(screen, goal) if screen.is_terminal else Lines()
