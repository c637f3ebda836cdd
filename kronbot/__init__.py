"""kronbot: kinematics, linear models, statics and simulation of rigid and flexible robots from one YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kronbot.model.robot import Robot

__version__ = "0.1.0"

_NOTHING: Mapping[str, str] = MappingProxyType({})


def load(robot: str, *, order: str = "2", parameters: Mapping[str, str | float] = _NOTHING) -> Robot:
    """The model of a robot: a path, or the name of a shipped robot.

    ``order`` is the kinematic order of its flexible links, "0", "1" or "2"; ``parameters`` replaces values of the
    file's parameters by numbers or expressions. Raises DescriptionError with every mistake of the file, UsageError for
    a name or an order that is not there.
    """
    from kronbot import description
    from kronbot.model.build import build

    texts = {name: value if isinstance(value, str) else repr(value) for name, value in parameters.items()}
    return build(description.load(description.read(robot), texts), order)
