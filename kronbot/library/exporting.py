"""Functions of a robot in other languages."""

from __future__ import annotations

from dataclasses import fields

import casadi

from kronbot.cached import cached_property
from kronbot.compute.code import c_code, python_code
from kronbot.compute.code.routine import Package
from kronbot.compute.symbolic.naming import c_prefix
from kronbot.description.called import called_by_name
from kronbot.description.wording import quote
from kronbot.errors import UsageError
from kronbot.library import arguments
from kronbot.library.answering import Subject, in_words
from kronbot.questions.export import ExportOptions, package
from kronbot.records import dataclass


@called_by_name
@dataclass(frozen=True, repr=False)
class Export:
    """Functions that need no kronbot; parameters of the file are their last argument."""

    asked: Subject
    functions: tuple[str, ...]
    choice: ExportOptions

    def __getstate__(self) -> dict[str, object]:
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    def __repr__(self) -> str:
        """The functions, without their code."""
        return f"<functions of {self.package.robot}, order {self.package.order}: {', '.join(self.functions)}>"

    @cached_property
    def package(self) -> Package:
        """What they are traced from, again after a pickle."""
        return package(self.asked.model, self.functions, self.choice)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What they leave out of the robot, in words: forces that change in time."""
        return tuple(self.package.told)

    @in_words
    def c(self, header: str | None = None, *, prefix: str | None = None, real: str = "double") -> tuple[str, str]:
        """C99 source and header, the latter to be saved as ``header`` (default: PREFIX.h).

        ``prefix`` begins all names (default: made from the robot's name), ``real`` is double or float. Raises
        UsageError where the prefix is no name of C or the header none of a file.
        """
        begin = c_code.prefix_of(self.package.robot) if prefix is None else c_prefix(arguments.text(prefix, "prefix"))
        name = f"{begin}.h" if header is None else arguments.text(header, "header")
        if not 0 < len(name) < 256 or not name.isprintable() or '"' in name:  # it stands in #include "..."
            raise UsageError(f"header {quote(name)} is no name of a file that C can include")
        style = c_code.Style(begin, name, arguments.choice(real, c_code.REALS, "real"))
        return c_code.source(self.package, style), c_code.header(self.package, style)

    @in_words
    def python(self) -> str:
        """The text of a module that imports math alone."""
        return python_code.module(self.package)

    @in_words
    def casadi(self) -> dict[str, casadi.Function]:
        """CasADi functions by name."""
        return {routine.name: routine.function for routine in self.package.routines}
