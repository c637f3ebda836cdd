"""What a robot file may say of forces that act from outside in a simulation."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from kronbot.description.entries import ZEROS, Text, Vector
from kronbot.description.in_time import VectorInTime
from kronbot.description.marks import Field
from kronbot.records import dataclass

NOTHING: Final = ZEROS


@dataclass(frozen=True)
class Push:
    """A force and a moment on a frame, in time; constant, from a table, a step or a sinusoid."""

    frame: Annotated[Text, Field(description="endpoint, LINK (its tip frame), LINK:root or com:LINK")]
    force: Annotated[VectorInTime, Field(description="x, y, z in N, or how they change in time")] = NOTHING
    moment: Annotated[VectorInTime, Field(description="x, y, z in N m, or how they change in time")] = NOTHING
    axes: Annotated[Literal["base", "body"], Field(description="of the base, or of the frame as it turns")] = "base"
    at: Annotated[Vector, Field(description="where the force acts, from the frame's origin in its axes, m")] = ZEROS

    @property
    def given(self) -> list[int]:
        """Which of the three components of its force, and of its moment behind them, are not zero all the time."""
        return [*(range(3) if self.force != NOTHING else ()), *(range(3, 6) if self.moment != NOTHING else ())]
