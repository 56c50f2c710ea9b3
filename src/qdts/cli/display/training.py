"""What a person sees while a game is learned: a live display, or plain lines."""

from __future__ import annotations

import time
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING

from qdts.cli.display import chart
from qdts.cli.display.output import console, number
from qdts.cli.display.solving import Silent

if TYPE_CHECKING:
    from rich.console import Console, Group

    from qdts.learning.metrics import Line, Return
    from qdts.learning.run import Run

PAUSE = 5.0
"""Seconds between two plain lines, at least."""


class Quiet:
    """Nothing on standard output, and every few seconds a line on standard error. A `Watch` of `learning.loop`."""

    def __init__(self) -> None:
        self.beat = Silent()
        self.run: Run | None = None
        """The run, once it has begun."""
        self.newest: Line | None = None
        self.progress = 0.0
        self.games_per_second = 0.0
        self.completed_at = time.perf_counter()
        """When the newest generation was complete."""
        self.stack = ExitStack()

    def __enter__(self) -> Quiet:
        self.stack.enter_context(self.beat)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stack.close()

    def load(self, what: str) -> None:
        """The game is being loaded."""
        self.beat.begin(f"loading {what} (what is not compiled yet is compiled now, once)")

    def compiling(self, made: int, of: int) -> None:
        """Kernels are being compiled."""
        from qdts.code_cache import cache_root

        self.beat.begin(f"compiling kernels, {made} of {of} (once: they are kept in {cache_root()})")

    def begin(self, run: Run) -> None:
        """The run begins, or is resumed."""
        self.run = run
        metrics = run.metrics()
        self.newest = metrics[-1] if metrics else None
        self.beat.begin(f"learning {run.game.spec}")

    def doing(self, what: str, share: float) -> None:
        """Work goes on, and a share of it is done."""
        self.beat.size = f"generation {self.generation}: {what}{f', {share:.0%}' if share else ''}"

    def done(self, metrics: Line, progress: float) -> None:
        """A generation is complete, and a share of the budget is spent."""
        from qdts.learning.metrics import with_speeds

        self.games_per_second = with_speeds(metrics, self.newest).get("games_per_second", 0.0)
        self.newest, self.progress, self.completed_at = metrics, progress, time.perf_counter()

    def say(self, text: str) -> None:
        """A line of its own, where people read along."""

    @property
    def generation(self) -> int:
        """The generation that is in work."""
        return 1 if self.newest is None else self.newest["generation"] + 1

    @property
    def seconds_left(self) -> float | None:
        """An estimate of the seconds left of the budget; None before the first generation is complete."""
        if self.newest is None or not self.progress:
            return None
        left = self.newest["seconds"] * (1.0 / self.progress - 1.0)
        return max(0.0, left - (time.perf_counter() - self.completed_at))


class Lines(Quiet):
    """Plain lines besides: every few seconds the newest figures."""

    def __init__(self) -> None:
        super().__init__()
        self.printed_at = -PAUSE

    def load(self, what: str) -> None:
        """A line of its own."""
        super().load(what)
        print(self.beat.stage, flush=True)

    def say(self, text: str) -> None:
        """Print it."""
        print(text, flush=True)

    def compiling(self, made: int, of: int) -> None:
        """A line before the first of them."""
        super().compiling(made, of)
        if not made:
            print(self.beat.stage, flush=True)

    def begin(self, run: Run) -> None:
        """A line of its own."""
        super().begin(run)
        print(f"{self.beat.stage} in {run.folder}", flush=True)

    def done(self, metrics: Line, progress: float) -> None:
        """The figures in one line."""
        super().done(metrics, progress)
        from qdts.learning.metrics import is_matched, label, returns_of

        if time.monotonic() < self.printed_at + PAUSE and progress < 1.0 and not is_matched(metrics):
            return
        self.printed_at = time.monotonic()
        parts = [f"generation {metrics['generation']:>6,}", f"{progress:>4.0%}"]
        if "nash_conv" in metrics:
            parts.append(f"{label('nash_conv')} {number(metrics['nash_conv']):>8}")
        if "nash_conv_average" in metrics:
            parts.append(f"NashConv with averaged weights {number(metrics['nash_conv_average']):>8}")
        if returns := returns_of(metrics):
            parts.append(f"return against {', '.join(map(return_words, returns))}")
        parts += [f"{self.games_per_second:,.0f} games/s", f"{metrics['seconds']:.1f} s"]
        print("   ".join(parts), flush=True)


def return_words(found: Return) -> str:
    """The result of a match in words."""
    half = "" if found.interval is None else f" ± {(found.interval[1] - found.interval[0]) / 2:.2g}"
    return f"{found.opponent} {found.mean:+.3g}{half}"


class Display(Quiet):
    """A live display: what is being done, the newest figures, how NashConv or matches went, the time left."""

    def __init__(self, screen: Console) -> None:
        from rich.live import Live
        from rich.spinner import Spinner

        super().__init__()
        self.nash_conv: list[float] = []
        self.matched: Line | None = None
        """The newest generation in which matches were played."""
        self.average: float | None = None
        self.uniform: float | None = None
        self.measured = 0
        """The generation whose NashConv is shown."""
        self.spinner = Spinner("dots")
        self.live = Live(console=screen, get_renderable=self.render, refresh_per_second=4, transient=True)

    def __enter__(self) -> Display:
        self.stack.enter_context(self.live)
        return self

    def begin(self, run: Run) -> None:
        """The run begins, or is resumed with the curve that it has."""
        super().begin(run)
        for metrics in run.metrics():
            self._measured(metrics)

    def say(self, text: str) -> None:
        """Print it above the display."""
        self.live.console.print(text, markup=False, highlight=False)

    def done(self, metrics: Line, progress: float) -> None:
        """One more generation."""
        super().done(metrics, progress)
        self._measured(metrics)

    def _measured(self, metrics: Line) -> None:
        from qdts.learning.metrics import is_matched, is_measured

        if is_matched(metrics):
            self.matched = metrics
        if is_measured(metrics):
            self.nash_conv.append(metrics["nash_conv" if "nash_conv" in metrics else "nash_conv_average"])
            self.average = metrics["nash_conv_average"]
            self.uniform = metrics.get("nash_conv_uniform")
            self.measured = metrics["generation"]

    def render(self) -> Group:
        """The display at this moment."""
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        from qdts.learning.metrics import label, returns_of

        self.spinner.update(text=Text(self.beat.stage))
        top = Table.grid(padding=(0, 2))
        top.add_row(self.spinner, Text(self.beat.size, style="dim"), f"{time.perf_counter() - self.beat.started:.0f} s")
        if self.newest is None:
            return Group(top)
        left = self.seconds_left
        figures = Table.grid(padding=(0, 3))
        figures.add_row(
            f"generation [bold]{self.newest['generation']:,}[/]",
            ProgressBar(total=1.0, completed=self.progress, width=24),
            f"{self.games_per_second:,.0f} games/s",
            "" if left is None else f"{int(left) // 60}:{int(left) % 60:02d} left",
        )
        rows: list[Table | Text] = [top, figures]
        if self.nash_conv:
            row = Table.grid(padding=(0, 3))
            whose = "" if self.measured == self.newest["generation"] else f" of generation {self.measured:,}"
            row.add_row(
                f"{label('nash_conv')}{whose} [bold green]{number(self.nash_conv[-1])}[/]",
                Text(chart.spark(self.nash_conv), style="cyan"),
                "" if self.average is None else f"with averaged weights [bold]{number(self.average)}[/]",
                "" if self.uniform is None else f"uniform play {number(self.uniform)}",
            )
            rows.append(row)
        if self.matched is not None:
            words = "   ".join(map(return_words, returns_of(self.matched)))
            whose = f"generation {self.matched['generation']:,}"
            rows.append(Text(f"return against   {words}   {whose}, 95 % intervals"))
        return Group(*rows, Text("Ctrl-C stops; --resume goes on later", style="dim"))


def follower(*, silent: bool) -> Quiet:
    """Progress in the way that fits where the output goes."""
    if silent:
        return Quiet()
    screen = console()
    return Display(screen) if screen.is_terminal else Lines()
