"""What a robot file may say of the controllers of its joints."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar, Literal

from kronbot.description.entries import ZERO, Flag, Quantity, Text
from kronbot.description.marks import Choice, Field, Tag
from kronbot.description.wording import Entries
from kronbot.records import dataclass

Target = Annotated[
    Annotated[Literal["motion"], Tag("<motion>")] | Annotated[Quantity, Tag("<value>")],
    Choice(lambda value: "<motion>" if value == "motion" else "<value>"),
]


@dataclass(frozen=True)
class PID:
    """Torque kp e + ki (integral of e) + kd (rate of e), e = target - measured."""

    kp: Annotated[Quantity, Field(description="N m/rad or N/m")]
    ki: Annotated[Quantity, Field(description="N m/(rad s) or N/(m s)")] = ZERO
    kd: Annotated[Quantity, Field(description="N m s/rad or N s/m")] = ZERO
    side: Annotated[Literal["motor", "link"], Field(description="where it measures, of an elastic joint")] = "motor"


@dataclass(frozen=True)
class Controller:
    """The controller of one joint: its torque is on the joint side of the gear."""

    pid: Annotated[PID, Field(description="gains")]
    target: Annotated[Target, Field(description="rad or m, or motion: that of the joint, else 0")] = "motion"
    effort: Annotated[tuple[Quantity, Quantity] | None, Field(description="smallest and largest torque or force")] = (
        None
    )
    anti_windup: Annotated[
        Literal["back-calculation", "none"], Field(description="of the integral, where the effort is at a limit")
    ] = "back-calculation"
    gravity: Annotated[
        Literal["rigid", "flexible", "none"] | None,
        Field(description="weight that is added: the rigid arm's, that of the arm in its sag, or none"),
    ] = None


@dataclass(frozen=True)
class StateFeedback:
    """Torques that follow from the whole state, of the joints in a file: tau = torque there - K (x - x there).

    Where the file has rows over time, or postures, all of that changes along a motion.
    """

    K: Annotated[Text, Field(description="CSV file of gains, as kronbot design writes it")]
    periodic: Annotated[Flag, Field(description="rows over time are one period; the last is the first again")] = False
    estimator: Annotated[Text | None, Field(description="CSV file of a Kalman filter; default: the state itself")] = (
        None
    )
    noise: Annotated[dict[str, Quantity], Field(description="densities by sensor, unit sqrt(s)")] = field(
        default_factory=Entries
    )
    seed: Annotated[Quantity, Field(description="of the noise, a whole number")] = ZERO


@dataclass(frozen=True)
class Control:
    """Controllers by joint, or for the whole state, which act all the time, or sampled and held."""

    sample_time: Annotated[Quantity | None, Field(description="s, zero-order hold; default: continuous")] = None
    state_feedback: Annotated[StateFeedback | None, Field(description="gains for the whole state")] = None
    joints: Annotated[dict[str, Controller], Field(description="by joint")] = field(default_factory=Entries)
    others: ClassVar[str] = "joints"

    @property
    def acts(self) -> bool:
        """Whether there is a controller."""
        return bool(self.joints) or self.state_feedback is not None
