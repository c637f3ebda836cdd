"""Chains of flexible links after the Canadarm, of any number of links and modes, in the plane or in space."""

from dataclasses import dataclass, fields

from kronbot import description
from kronbot.model.build import build


@dataclass(frozen=True)
class Chain:
    """Equal links: length (m), mass (kg), EI (N m2), modes a direction; ``taper`` is a link's mass by that before it.

    ``payload`` (kg) is carried by the tip of the last link, ``hub`` (kg m2) is the inertia of every joint. ``spatial``
    turns every other joint axis by a right angle and bends the links in both directions.
    """

    links: int = 3
    modes: int = 2
    length: float = 5.0
    mass: float = 100.0
    EI: float = 1e5
    payload: float = 0.0
    hub: float = 0.0
    taper: float = 1.0
    shape: str = "clamped-free"
    spatial: bool = False
    order: str = "1"

    def __str__(self):
        words = [
            f"{self.links} link" + "s" * (self.links > 1),
            f"{self.modes} {self.shape} modes" if self.modes else "rigid",
        ]
        words += [
            f"{field.name} {value:g}" for field in NUMBERS if (value := getattr(self, field.name)) != field.default
        ]
        return ", ".join(words + ["in space"] * self.spatial)

    def text(self):
        links = "".join(self._link(i) for i in range(self.links))
        return (
            "kronbot: 1\nname: chain\nconvention: standard\ngravity: [0, 0, 0]\n"
            f"links:{links}\nsimulate: {{duration: 10, drive: rigid-inverse-dynamics}}\n"
        )

    def robot(self):
        return build(description.load(description.Source("chain.yaml", self.text(), None)), self.order)

    def _link(self, i):
        head = f"\n  - name: link{i + 1}\n    joint: {{type: revolute, name: q{i + 1}}}"
        alpha = "pi/2" if self.spatial and i % 2 == 0 else "0"
        row = f"\n    dh: {{a: {self.length}, d: 0, alpha: {alpha}, theta: 0}}"
        mass = self.mass * self.taper**i
        hub = f"\n    hub: {{inertia: {{Ixx: {self.hub}, Iyy: {self.hub}, Izz: {self.hub}}}}}" if self.hub else ""
        if not self.modes:
            inertia = mass * self.length**2 / 12
            tensor = f"{{Ixx: {inertia / 100!r}, Iyy: {inertia!r}, Izz: {inertia!r}}}"
            body = f"\n    rigid: {{mass: {mass!r}, com: [{-self.length / 2}, 0, 0], inertia: {tensor}}}"
        else:
            w = self.modes if self.spatial else 0
            body = (
                f"\n    flexible: {{mass: {mass!r}, EI: {{y: {self.EI!r}, z: {self.EI!r}}}, "
                f"modes: {{v: {self.modes}, w: {w}}}, shape: {self.shape}}}"
            )
        last = self.payload and i == self.links - 1
        return head + row + hub + body + (f"\n    payload: {{mass: {self.payload!r}}}" if last else "")


NUMBERS = [field for field in fields(Chain) if field.name in ("length", "mass", "EI", "payload", "hub", "taper")]
