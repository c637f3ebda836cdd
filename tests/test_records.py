"""Records are the dataclasses of ``dataclasses``, made faster."""

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, field, fields, replace

import pytest

from kronbot import records


def made(dataclass):
    """The same classes by one decorator or the other."""

    @dataclass(frozen=True)
    class Point:
        """A point."""

        x: float
        y: float = 2.0
        names: list[str] = field(default_factory=list, compare=False)
        hidden: str = field(default="h", repr=False)

    @dataclass(frozen=True)
    class Named(Point):
        """With a name."""

        name: str = "n"

        def __post_init__(self):
            object.__setattr__(self, "name", self.name.upper())

    @dataclass(frozen=True, eq=False)
    class Own:
        """Equal to itself alone."""

        a: int

    @dataclass(frozen=True, repr=False)
    class Shown:
        """In words of its own."""

        a: int = 1
        later: int = field(init=False, default=3)

        def __eq__(self, other):
            return True

        def __repr__(self):
            return "shown"

    @dataclass(frozen=True)
    class Nothing:
        """None at all."""

    @dataclass
    class Mutable:
        """It changes."""

        a: int
        b: list[int] = field(default_factory=list)

    @dataclass(frozen=True, order=True)
    class Ordered:
        """By its first entries."""

        a: int
        b: float = 2.0
        beside: int = field(default=0, compare=False)

    @dataclass(eq=False, slots=True)
    class Slim:
        """It changes, too."""

        a: int

    @dataclass(frozen=True, slots=True)
    class Slots:
        """Without a dictionary."""

        a: int
        b: float = 2.0

        def twice(self):
            return 2 * self.a

    return Point, Named, Own, Shown, Nothing, Slots, Mutable, Ordered, Slim


STANDARD, FAST = made(dataclasses.dataclass), made(records.dataclass)


@dataclasses.dataclass(frozen=True)
class _Standard:
    """To be pickled."""

    a: int
    b: tuple[int, ...] = ()


@records.dataclass(frozen=True)
class _Fast:
    """To be pickled."""

    a: int
    b: tuple[int, ...] = ()


def answers(classes):
    """What can be asked of them."""
    Point, Named, Own, Shown, Nothing, Slots, Mutable, Ordered, Slim = classes
    point, other = Point(1.0), Point(1.0, 2.0, ["a"], hidden="h")
    nan = Point(float("nan"))
    yield [[entry.name for entry in fields(each)] for each in classes]
    yield [each.__match_args__ for each in classes]
    yield repr(point).rsplit(".", 1)[-1], repr(Named(0, name="q")).rsplit(".", 1)[-1], repr(Shown())
    yield point == other, point != other, hash(point) == hash(other), point == Named(1.0), nan == nan, point == 1
    yield Point(1.0, names=["b"]).names, Point(1.0).names is Point(1.0).names
    yield Named(3.0, name="abc").name, replace(point, y=5.0).y, replace(Named(1.0, name="k"), x=2.0).name
    yield (
        Own(1) == Own(1),
        len({Own(1), Own(1)}),
        Shown() == 5,
        Nothing() == Nothing(),
        hash(Nothing()) == hash(Nothing()),
    )
    yield (
        Shown().later,
        hash(Shown(1)) == hash(Shown(1)),
        copy.deepcopy(other) == other,
        copy.copy(other).names == ["a"],
    )
    yield vars(other)
    slim = Slots(1)
    yield hasattr(slim, "__dict__"), Slots.__slots__, slim.twice(), repr(slim).rsplit(".", 1)[-1], slim == Slots(1, 2.0)
    change, slip = Mutable(1), Slim(3)
    change.a, change.new, slip.a = 4, 5, 6
    yield vars(change), slip.a, change == Mutable(4), Mutable.__hash__, replace(change, b=[1]).b, slip == slip
    first, second = Ordered(1, beside=3), Ordered(1, 3.0)
    yield first < second, second <= first, first >= Ordered(1), first > first, hash(first) == hash(Ordered(1))
    yield sorted([Ordered(2), second, first])[0].beside, Ordered(1) == first, Ordered.__lt__(first, 1), Mutable(1) != 1
    yield copy.copy(slim) == slim, copy.deepcopy(slim).b, replace(slim, b=3.0).b, hash(slim) == hash(Slots(1))


def test_they_answer_alike():
    assert list(answers(FAST)) == list(answers(STANDARD))


@pytest.mark.parametrize("classes", [STANDARD, FAST])
def test_they_refuse_alike(classes):
    Point, Named, _, _, Nothing, Slots, Mutable, Ordered, _ = classes
    refused = [
        lambda: Point(),
        lambda: Point(1, 2, [], "h", 5),
        lambda: Point(1, x=1),
        lambda: Point(1, z=1),
        lambda: Nothing(1),
        lambda: replace(Point(1), later=1),
        lambda: Slots(),
        lambda: hash(Mutable(1)),
        lambda: Ordered(1) < 1,
        lambda: Mutable(1) < Mutable(2),
    ]
    for each in refused:
        with pytest.raises(TypeError):
            each()
    point = Named(1.0)
    for each in (lambda: setattr(point, "x", 2.0), lambda: setattr(point, "new", 2.0), lambda: delattr(point, "x")):
        with pytest.raises(FrozenInstanceError):
            each()
    assert point.x == 1.0
    with pytest.raises(FrozenInstanceError):
        Slots(1).a = 2


def test_what_is_not_frozen_or_has_an_order_is_that_of_the_library():
    @records.dataclass
    class Loose:
        """May change."""

        a: int = 1

    @records.dataclass(frozen=True, slots=True, order=True)
    class Slim:
        """Without a dictionary."""

        a: int

    loose = Loose()
    loose.a = 3
    assert loose.a == 3 and Slim(1) < Slim(2) and not hasattr(Slim(1), "__dict__")


@pytest.mark.parametrize("whole", [_Standard, _Fast])
def test_they_pickle(whole):
    assert pickle.loads(pickle.dumps(whole(1, b=(2, 3)))) == whole(1, (2, 3))
