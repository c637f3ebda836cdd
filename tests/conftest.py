"""What several test modules use."""

import gc
import os
import signal
import sys
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.internal.conjecture import providers

from kronbot.__main__ import BETWEEN_LOOKS

# Building and tracing a random robot takes a good part of a second; the machine is shared, so no deadlines, and
# no shrinking, which would rebuild robots for minutes.
settings.register_profile(
    "kronbot",
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
settings.load_profile("kronbot")
# Numbers that stand in the modules imported so far are drawn, too: examples would depend on which tests ran before.
providers._get_local_constants = lambda: providers._local_constants
# Models of the session, those that were last made, by file, settings and order.
BUILT, MOST_BUILT = {}, 64
# As the command line has it: matrices of robots are too small for threads, which wait for each other where others work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Hundreds of processes need not compile the same modules, nor every run the same assertions.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Where pytest sees these, it prints what is compared without an end: five thousand rows hide which test it was.
for name in ("CI", "BUILD_NUMBER"):
    os.environ.pop(name, None)
# Whoever starts the tests behind something else (nohup, a job of a shell without job control, a daemon) has signals
# ignored, which processes inherit; kronbot leaves it at that, and the tests send these signals.
for name in ("SIGINT", "SIGTERM", "SIGHUP"):
    number = getattr(signal, name, None)
    if number is not None and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Nothing of what is imported and collected is garbage: it is not looked for."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


class FromTheEnd(pytest.Dir):
    """A folder whose entries are looked at last first."""

    def collect(self):
        return reversed([*super().collect()])


def pytest_collect_directory(path, parent):
    """Of two processes one begins at the end: where nothing is compiled yet, each compiles one half, for both."""
    if int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 2:
        return FromTheEnd.from_parent(parent, path=path)
    return None


def pytest_collection_modifyitems(items):
    """Whichever end comes first, the order is one."""
    items.sort(key=lambda item: item.path)


def pytest_collection_finish():
    """Modules and tests stay until the end: the collector need not walk over them again and again, nor over what is
    made more often than in a command."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(BETWEEN_LOOKS)


@pytest.fixture(autouse=True, scope="session")
def surroundings(tmp_path_factory):
    """Compiled functions of the tests are kept among their temporary files. Messages are as a pipe sees them; where a
    test stands in for a terminal, it is one that can draw."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KRONBOT_CACHE", str(tmp_path_factory.mktemp("cache") / "kronbot"))
        patch.setenv("NO_COLOR", "1")
        patch.setenv("TERM", "xterm")
        yield


@pytest.fixture(autouse=True)
def built_once(request):
    """Where commands and pictures are tested, robots of the same file and settings are one, traced once a session:
    answers do not depend on what was asked before, which tests of the library and of questions look at."""
    if request.path.parent.name not in ("cli", "plots"):
        return
    from kronbot.model import build  # which the process that hands out tests does without

    made = build.build

    def shared(description, order, parameters=None, compliant=False):
        if parameters is not None or description.tables:
            return made(description, order, parameters, compliant)
        place = description.source, tuple(description.overrides.items()), order, compliant
        known = BUILT.get(place)
        if known is None or known.description != description:
            while len(BUILT) >= MOST_BUILT:
                del BUILT[next(iter(BUILT))]
            known = BUILT[place] = made(description, order, parameters, compliant)
        return known

    request.getfixturevalue("monkeypatch").setattr(build, "build", shared)


@pytest.fixture
def swept_here(monkeypatch):
    """Cases of sweeps are computed in this process, whatever their number of workers."""
    from sweeps.here import Here

    from kronbot.library.sweep import Hands

    monkeypatch.setattr(Hands, "engine", lambda hands, parcel, cases: Here(parcel))


@pytest.fixture
def interpreted():
    """No native code: of short runs a compiler takes longer than what it saves, and answers are the same to the bit."""
    from kronbot.compute.native import policy

    with policy.native("off"):
        yield


@pytest.fixture
def unpaid(monkeypatch):
    """The run that a design pays for need not come to rest."""
    from kronbot.questions import design

    monkeypatch.setattr(design, "LONG", 1)
    monkeypatch.setattr(design, "ROWS", 20)


@pytest.fixture
def unmeasured(monkeypatch):
    """Runs do not look at how a motion ends, which may take as long once more."""
    from kronbot.questions import simulate

    monkeypatch.setattr(simulate, "_behind_motion", lambda *given: (simulate.NOTHING, None))


@pytest.fixture(autouse=True)
def unmeasured_elsewhere(request):
    """How motions end is the matter of questions; of all else quick tests look there, too, and slow ones go without."""
    if request.path.parent.name in ("mechanics", "library", "model") and request.node.get_closest_marker("slow"):
        request.getfixturevalue("unmeasured")


@pytest.fixture
def unsettled(monkeypatch):
    """Pictures go to files without a layout, which takes longest and is looked at in tests of pictures."""
    from kronbot.plots import style

    @contextmanager
    def as_it_is(figure):
        figure.set_layout_engine(None)
        yield

    monkeypatch.setattr(style, "_settled", as_it_is)
