"""What is slow and alike: a few of it by default, all of it where slow tests are asked for."""

import inspect
import itertools
from functools import wraps

import pytest
from hypothesis import given, settings


def rare(*values):
    """A case of a parametrized test that only slow runs try."""
    return pytest.param(*values, marks=pytest.mark.slow)


def thinned(cases, wanted):
    """Cases of a parametrized test, each slow but those ``wanted``, which must be among them."""
    assert set(wanted) <= set(cases)
    return [case if case in wanted else rare(*case) if isinstance(case, tuple) else rare(case) for case in cases]


def drawn(few, many, *strategies):
    """A test of so many examples drawn by hypothesis: ``few``, and beside it a slow one that goes on to ``many``."""

    def decorated(test):
        def tried(examples, **fixtures):
            tries = itertools.count()

            @wraps(test)
            def fresh(*drawings, **more):
                if examples == few or next(tries) >= few:  # the first are those of the quick test
                    test(*drawings, **more)

            settings(max_examples=examples)(given(*strategies)(fresh))(**fixtures)

        tried.__name__, tried.__doc__, tried.__module__ = test.__name__, test.__doc__, test.__module__
        fixtures = inspect.signature(given(*strategies)(test)).parameters.values()
        examples = inspect.Parameter("examples", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        tried.__signature__ = inspect.Signature([examples, *fixtures])
        return pytest.mark.parametrize("examples", [few, rare(many)])(tried)

    return decorated
