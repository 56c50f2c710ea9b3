"""The progress of `qdts solve`: a live display on a terminal, plain lines elsewhere, a heartbeat with --json."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

from qdts.cli.display import chart
from qdts.cli.display.output import console, number
from qdts.cli.display.progress import Heartbeat

if TYPE_CHECKING:
    from rich.console import Console, Group

    from qdts.solving.solver import Point
    from qdts.solving.tree.enumeration import Progress

CHART_ROWS = 8


class Silent(Heartbeat):
    """Nothing on standard output: a heartbeat on standard error that follows loading, enumerating and solving."""

    def imported(self, histories: int) -> None:
        """Report how far the import of a game is."""
        self.size = f"{histories:,} histories"

    def enumerated(self, progress: Progress) -> None:
        """Report how far the enumeration of the game is."""
        self.size = f"{progress.histories:,} histories, {progress.infosets:,} information sets"

    def measured(self, point: Point) -> None:
        """Report NashConv after some iterations."""
        self.size = f"iteration {point.iterations:,}, NashConv {number(point.nash_conv)}"


class Lines(Silent):
    """Plain lines on standard output as well: one each time the number of iterations has doubled."""

    def __init__(self) -> None:
        super().__init__()
        self.printed = 0

    def begin(self, stage: str) -> None:
        """Enter a new stage, and print it."""
        super().begin(stage)
        print(stage, flush=True)

    def measured(self, point: Point) -> None:
        """Print the figures in one line."""
        super().measured(point)
        if point.iterations >= 2 * self.printed:
            self.printed = point.iterations
            print(
                f"iteration {point.iterations:>9,}   NashConv {number(point.nash_conv):>9}   {point.seconds:.2f} s",
                flush=True,
            )


class Display(Silent):
    """A live display: the stage, the time, the newest figures and the curve so far."""

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
        """Write the stage beside the spinner."""
        from rich.text import Text

        self.spinner.update(text=Text(stage))

    def measured(self, point: Point) -> None:
        """Add a point to the curve."""
        self.points.append(point)

    def render(self) -> Group:
        """The current state of the display."""
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
    """NashConv against iterations, as lines of text."""
    return chart.log_log(((p.iterations, p.nash_conv) for p in points), height=height)


def solving_progress(goal: int, *, silent: bool) -> Silent:
    """The progress display that suits standard output; `goal` is the number of iterations."""
    if silent:
        return Silent()
    screen = console()
    return Display(screen, goal) if screen.is_terminal else Lines()
