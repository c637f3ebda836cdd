"""kronbot: kinematics, linear models, statics and simulation of rigid and flexible robots from one YAML file.

>>> import kronbot
>>> robot = kronbot.load("canadarm")
>>> answer = robot.jacobian(q={"q1": 0.1, "q2": "pi/4"})
>>> answer.arrays["J_T"].rows
('x', 'y', 'z')
"""

from __future__ import annotations

from kronbot.version import __version__

# Not from typing, which takes longer to import than the command line takes to hear a Ctrl-C; so does ``errors``.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike
    from types import ModuleType
    from typing import ParamSpec, TypeVar

    from kronbot import errors
    from kronbot.description import Source
    from kronbot.description.urdf.translation import Translation
    from kronbot.library.robot import Robot

    Given = ParamSpec("Given")
    Answer = TypeVar("Answer")

__all__ = ["__version__", "convert", "errors", "load", "loads", "robots"]


def __getattr__(name: str) -> ModuleType:
    """``kronbot.errors``, when it is asked for."""
    if name == "errors":
        import kronbot.errors as found

        return found
    raise AttributeError(f"module 'kronbot' has no attribute {name!r}")


def _known_arguments(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """As of methods (kronbot.description.called), without its import."""

    def called(*given: Given.args, **named: Given.kwargs) -> Answer:
        try:
            return function(*given, **named)
        except TypeError:
            from kronbot.description.called import demand_arguments

            demand_arguments(function, len(given), named)
            raise
        except RecursionError:
            from kronbot.errors import too_deep
        raise too_deep()

    for word in ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__"):
        setattr(called, word, getattr(function, word))
    called.__dict__["__wrapped__"] = function  # whose signature is shown
    return called


@_known_arguments
def load(
    robot: str | PathLike[str], *, order: str | int = "2", parameters: Mapping[str, str | float] | None = None
) -> Robot:
    """A robot from its file: a path, or the name of a shipped robot.

    ``order`` is the kinematic order of its flexible links, "0", "1", "2" or "exact"; ``parameters`` replaces values of
    the file's parameters by numbers or expressions. Raises DescriptionError with every mistake of the file, UsageError
    for a name or an order that is not there.
    """
    from kronbot.system.forking import AtWork

    with AtWork():  # while modules are imported, too: their locks are among those that a forked process finds shut
        from kronbot.system.importing import whole_imports

        with whole_imports():
            from kronbot import description
            from kronbot.library import arguments

        return _built(description.read(arguments.path(robot, "robot")), order, parameters)


@_known_arguments
def loads(text: str, *, order: str | int = "2", parameters: Mapping[str, str | float] | None = None) -> Robot:
    """A robot from the text of a robot file; one that names further files (tables) has to be a file itself.

    ``order`` and ``parameters`` as of :func:`load`. Raises DescriptionError with every mistake of the text, UsageError
    where it is no text, or for a name or an order that is not there.
    """
    from kronbot.system.forking import AtWork

    with AtWork():
        from kronbot.system.importing import whole_imports

        with whole_imports():
            from kronbot.description import Source
            from kronbot.library import arguments

        given = arguments.content(text, "text", "kronbot.load takes those", robots())
        return _built(Source("<text>", given, None), order, parameters)


def robots() -> tuple[str, ...]:
    """Names of the shipped robots.

    >>> "canadarm" in robots()
    True
    """
    from kronbot import description

    return tuple(description.shipped_robots())


@_known_arguments
def convert(urdf: str | PathLike[str], *, tip: str | None = None) -> Translation:
    """A robot file from a URDF: its ``text``, and ``notes`` of what is not carried.

    ``tip`` is the link whose frame is the endpoint, by default the only or deepest leaf. Raises DescriptionError where
    the file is no tree of revolute, continuous, prismatic, planar, floating and fixed joints.
    """
    from kronbot.system.forking import AtWork

    with AtWork():
        from kronbot.system.importing import whole_imports

        with whole_imports():
            from kronbot.description.urdf.elements import read_xml
            from kronbot.description.urdf.reading import URDF_BYTES, parse_urdf
            from kronbot.description.urdf.translation import translate
            from kronbot.library import arguments

        source = read_xml(arguments.path(urdf, "urdf"), URDF_BYTES)
        return translate(parse_urdf(source), None if tip is None else arguments.text(tip, "tip"))


def _built(source: Source, order: str | int, parameters: Mapping[str, str | float] | None) -> Robot:
    from kronbot.system.importing import whole_imports

    with whole_imports():
        from kronbot import description
        from kronbot.library import arguments
        from kronbot.library.robot import Robot
        from kronbot.model.build import build

    settings = {} if parameters is None else arguments.expressions(parameters, "parameter")
    return Robot(build(description.load(source, settings), arguments.order(order)))
