"""Functions within others as pickles."""

import io
import pickle
from functools import cache

import pytest

from kronbot.compute.closures import reduced


class Writer(pickle.Pickler):
    def reducer_override(self, value):
        return reduced(value)


def again(value):
    stream = io.BytesIO()
    Writer(stream, 5).dump(value)
    return pickle.loads(stream.getvalue())


class Line:
    def __init__(self, slope):
        self.slope = slope

    def at(self, x):
        return self.slope * x

    @property
    def turned(self):
        return lambda x: -self.slope * x

    @staticmethod
    def through(x):
        def value(slope=2, *, offset=1):
            return slope * x + offset

        return value


def pair(a, b):
    return (lambda x: a + x, lambda x: b * x), [(lambda held: lambda: held)(each) for each in (a, b)]


def deep(a):
    def outer(b):
        return lambda c: (a, b, c)

    return outer


def test_they_do_what_they_did():
    """With what they hold, their defaults, those of one line and name, methods, properties, caches, within others."""
    (plus, times), many = again(pair(3, 5))
    assert (plus(4), times(4)) == (7, 20)
    assert [each() for each in many] == [3, 5]
    assert again(Line.through(3))() == 7
    assert again(Line.through(3))(1, offset=0) == 3
    line = Line(2)
    assert (again(line.at)(3), again(line.turned)(3)) == (6, -6)
    assert again(deep(1)(2))(3) == (1, 2, 3)
    kept = again(cache(deep(1)(2)))
    assert kept(3) is kept(3)
    assert again(again(plus))(1) == 4
    assert again(len) is len
    assert again(pair) is pair


def test_what_does_not_stand_in_its_module_is_refused():
    """Text that was run, and code that was changed; a pickle that names what is not there."""
    made = {"__name__": __name__}
    exec("def f():\n    return lambda: 1\ng = f()", made)
    with pytest.raises((LookupError, pickle.PicklingError)):
        again(made["g"])
    first, _ = pair(1, 2)[0]
    first.__code__ = first.__code__.replace(co_firstlineno=1)
    with pytest.raises((LookupError, ValueError)):
        again(first)
