"""Where an answer goes: to stdout or a file, drawn in a picture, shown in a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from kronbot.cli.output.files import check_place, check_target, save, tell
from kronbot.cli.output.messages import show_doubts
from kronbot.description.wording import shown_path as shown
from kronbot.errors import Failure, Interrupted, KronbotError, UsageError
from kronbot.records import dataclass

if TYPE_CHECKING:
    from kronbot.library.robot import Robot
    from kronbot.questions.result import Result

# So many rows take a while to write, in which somebody who has interrupted wonders.
MANY_ROWS = 5_000


@dataclass(frozen=True)
class Output:
    """Where an answer goes, and in what form.

    The file of its picture, output and input that this is about, the panels that are wanted of it; the file of its
    page, and whether this is opened.
    """

    style: str
    output: str | None
    overwrite: bool
    quiet: bool
    array: str | None = None
    plot: str | None = None
    pair: tuple[str, str] | None = None
    panels: str | None = None
    view: str | None = None
    open: bool = False

    @property
    def drawn(self) -> str | None:
        """The option that wants the answer to be drawn, if there is one."""
        return "--plot" if self.plot is not None else "--view" if self.view is not None else None

    def check(self, arrays: tuple[str, ...] | None = None, also: tuple[str, ...] = ()) -> None:
        """Raise UsageError, before anything is computed, where the answer could not be written.

        ``arrays`` are those that it may hold, None where that depends on the robot; the command writes files that end
        so ``also``.
        """
        check_target(self.output, self.overwrite, also)
        self.check_picture()
        self.demand_panels()
        self.check_page()
        if arrays is not None and self.array is not None and self.array not in arrays:
            from kronbot.description.wording import listing, quote

            known = f"; there are {listing(arrays)}" if arrays else ": it is a series of columns; leave it out"
            raise UsageError(f"--array: no array {quote(self.array)} in this answer{known}")

    def demand_panels(self, there: Iterable[str] | None = None) -> None:
        """Raise UsageError, before anything is computed, for panels that no picture has: those that are ``there``."""
        if self.panels is not None:
            from kronbot.plots.panels import demand_words

            demand_words(click.get_current_context().command.name, self.panels, there)

    def check_picture(self) -> None:
        """Raise UsageError where the picture could not be written."""
        if self.plot is not None:
            from kronbot.plots.style import demand_matplotlib, demand_suffix

            demand_suffix(self.plot)
            check_place("--plot", self.plot, self.overwrite)
            demand_matplotlib()
        for word, given in (("pair", self.pair), ("panels", self.panels)):
            if given is not None and self.plot is None:
                raise UsageError(f"--{word} is about the picture: add --plot")

    def save_picture(self, result: Result) -> None:
        """Draw the answer, where that is wanted."""
        if self.plot is not None:
            from kronbot.plots.pictures import draw

            save(self.plot, draw(result, self.pair, self.panels).content(Path(self.plot).suffix))

    def tell_undrawn(self) -> None:
        """Say which files of an answer that was interrupted are not drawn."""
        if drawn := [shown(name) for name in (self.plot, self.view) if name is not None]:
            tell(f"interrupted: left out: {' and '.join(drawn)}")

    def check_page(self) -> None:
        """Raise UsageError where the page could not be written."""
        if self.view is not None:
            demand_page(self.view)
            check_place("--view", self.view, self.overwrite)
        elif self.open:
            raise UsageError("--open shows the page: add --view")

    @property
    def is_csv(self) -> bool:
        """Whether the answer is wanted as csv."""
        return self.style == "csv" if self.output is None else Path(self.output).suffix == ".csv"

    def demand_held(self, robot: Robot, question: str, given: Mapping[str, object], also: tuple[str, ...] = ()) -> None:
        """Raise UsageError, before anything is computed, where no answer has the array or the pair of the picture, or
        csv would want an array named.

        Answers may hold arrays ``also`` that the outline of the question does not know.
        """
        from importlib import import_module

        from kronbot.cli.output.render import demand_one
        from kronbot.questions.result import demand_array

        possible = {word: (value,) for word, value in given.items()}
        outline = import_module(f"kronbot.questions.{question}").outline(robot.model, possible)
        if self.array is not None:
            demand_array(self.array, (*outline.arrays, *also), outline.absent)
        elif self.is_csv and not outline.series:
            demand_one(outline.arrays)
        if self.pair is not None:
            from kronbot.plots.frequency_response import demand_pair

            if "C" not in outline.arrays:
                raise UsageError("--pair is for a model about a point, not for one along a motion")
            demand_pair(self.pair, outline.arrays["C"][0], outline.arrays["B"][1] or ())

    def render(self, result: Result) -> None:
        """Print or write the answer."""
        from kronbot.cli.output.render import render

        render(result.settled(), self.style, self.output, self.array)
        if not self.quiet and result.command != "check":  # whose warnings are the file's, told when it was read
            show_doubts(result.warnings)

    def render_blocks(self, answers: Iterator[Result]) -> None:
        """Render an answer that comes in blocks of cases; as csv each as it comes, so that any number of them fits."""
        from kronbot.cli.output.render import render_blocks
        from kronbot.questions.limits import Blocks

        doubts = Blocks()

        def noted() -> Iterator[Result]:
            for result in answers:
                doubts.add(result.warnings, int(result.summary.get("cases", 1)))
                yield result

        render_blocks(noted(), self.style, self.output, self.array)
        if not self.quiet:
            show_doubts(doubts.told())

    def answer(self, title: str, ask: Callable[[Callable[[float], None]], Result]) -> None:
        """Ask with a progress bar, render the answer and draw it; of one that stops early what there is."""
        from kronbot.cli.output.progress import progress_bar
        from kronbot.system.interruption import interruptions

        stopped: KronbotError | None = None
        with interruptions() as met, met.telling():
            try:
                with progress_bar(title, self.quiet) as progress:
                    result = ask(progress)
            except KronbotError as error:
                if error.partial is None:
                    raise
                stopped, result = error, cast("Result", error.partial)
                rows = len(next(iter(result.series.values()), ()))
                if rows >= MANY_ROWS and isinstance(error, Interrupted):
                    tell(f"interrupted: writing {rows} rows")
            self.render(result)
        left = isinstance(stopped, Interrupted) and bool(met)  # who interrupts does not want to wait
        if left:
            self.tell_undrawn()
        if self.plot is not None and not left:
            met.demand_none()
            self.save_picture(result)
        if self.view is not None and not left:
            from kronbot.plots.page.pages import page

            met.demand_none()
            save_page(self.view, page(result), self.open)
        if stopped is not None:
            raise stopped


def save_page(name: str, text: str, opened: bool) -> None:
    """Write a page, and open it in the browser where that is wanted; without one it is there all the same."""
    save(name, text.encode())
    if opened:
        from kronbot.plots.page.pages import show

        try:
            show(name)
        except Failure as error:
            tell(f"warning: {error}")


def demand_page(name: str, option: str = "--view") -> None:
    """Raise UsageError where a file cannot hold a page by its name."""
    if Path(name).suffix != ".html":
        raise UsageError(f"{option} {shown(name)}: a page ends in .html")
