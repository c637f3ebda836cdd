"""Native code equals interpretation to the bit, and a missing compiler or an unsafe cache only means interpretation."""

import errno
import fcntl
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import casadi
import numpy as np
import pytest
from casadi import SX
from tapes import BINARY, SPECIAL, UNARY, random_function, same_bits
from thinned import rare, thinned
from waiting import PATIENCE, demand_dead, soon

from kronbot.compute.native import cache, compiling, elf, policy
from kronbot.compute.native.cache import Cache
from kronbot.compute.native.cost import EFFORTS, FULL, QUICK, instructions
from kronbot.compute.native.subjects import Calls, Functions, Rows
from kronbot.compute.native.use import worthwhile
from kronbot.mechanics.motion.strides import Strides
from kronbot.system import supervised
from kronbot.system.interruption import UNFINISHED, end_unfinished

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, compiling.COMPILERS)), reason="native code needs a C compiler on the path"
)


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """An empty cache of the test's own."""
    monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    with Cache(tmp_path / "cache", create=True) as kept:
        yield kept


@pytest.fixture
def reasons(caplog):
    """Why there was no native code, so far."""
    caplog.set_level(logging.DEBUG, "kronbot")
    return lambda: " ".join(record.getMessage() for record in caplog.records if record.name == "kronbot")


def sample(factor=2.0):
    """A small function with sparse input and output."""
    x, A = SX.sym("x", 3), SX.sym("A", casadi.Sparsity.upper(3))
    return casadi.Function(
        "trace", [x, A], [A @ casadi.sin(factor * x), casadi.diag(x**2)], ["x", "A"], ["image", "squares"]
    )


def native(function, *companions, effort=FULL):
    """The function, compiled."""
    code = compiling.compiled(effort, function, *companions)
    return None if code is None else code.function


def cached(*functions):
    """What there is of them."""
    return compiling.cached(Functions(*functions))


def left_over(kept):
    """What is in the folder besides libraries and digests."""
    return [path.name for path in kept.path.iterdir() if path.suffix == ".lock" or not cache.OWN.fullmatch(path.name)]


def script(path, text):
    """An executable shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)


def entry(kept):
    (only,) = kept.entries()
    return only.path


# Agreement with interpretation


@pytest.mark.parametrize("effort", EFFORTS)
def test_every_operation_agrees_to_the_bit(effort):
    """Each operation of the models alone, on ordinary and extreme numbers in all pairs."""
    a, b = SX.sym("a"), SX.sym("b")
    function = casadi.Function("trace", [a, b], [each(a) for each in UNARY] + [each(a, b) for each in BINARY])
    values = np.concatenate([SPECIAL, np.random.default_rng(1).normal(size=12)])
    grid = [side.reshape(1, -1) for side in np.meshgrid(values, values)]
    count = grid[0].size
    interpreted, compiled = function.map(count)(*grid), native(function, effort=effort).map(count)(*grid)
    different = [k for k, pair in enumerate(zip(interpreted, compiled, strict=True)) if not same_bits(*pair)]
    assert different == []


@pytest.mark.parametrize("seed", [0, 1, rare(2), rare(3)])
def test_random_functions_agree_to_the_bit(seed):
    """Chains of operations, and their gradients, where contraction or reordering would show."""
    rng = np.random.default_rng(seed)
    function = random_function(rng, 60 if seed < 2 else 200)
    if seed % 2:
        (x,) = function.sx_in()
        function = casadi.Function("trace", [x], [casadi.gradient(casadi.sum1(function(x)), x)])
    points = np.hstack([rng.normal(size=(6, 60)), rng.uniform(0, 1, (6, 60)), rng.choice(SPECIAL, size=(6, 60))])
    interpreted = np.array(function.map(180)(points))
    assert np.isfinite(interpreted).sum() > 100  # something is compared
    for effort in EFFORTS:
        assert same_bits(interpreted, native(function, effort=effort).map(180)(points))


def test_sums_of_products_are_not_contracted():
    """a b + c rounds twice; a fused operation, where the processor has one, leaves the rounding error of a b."""
    a, b, c = SX.sym("a"), SX.sym("b"), SX.sym("c")
    compiled = native(casadi.Function("trace", [a, b, c], [a * b + c]))
    assert float(compiled(0.1, 0.3, -(0.1 * 0.3))) == 0.0


def test_names_and_sparsities_stay(kept):
    """The compiled function has the signature of the traced one."""
    function = sample()
    compiled = native(function)
    assert str(compiled).split()[0] == str(function).split()[0]
    assert compiled.is_a("External")
    assert [compiled.sparsity_in(k) for k in range(2)] == [function.sparsity_in(k) for k in range(2)]
    assert [compiled.sparsity_out(k) for k in range(2)] == [function.sparsity_out(k) for k in range(2)]
    assert left_over(kept) == []


def test_buffers_of_mapped_functions():
    """Rows through shared memory, as Trace.rows evaluates."""
    function = sample()
    rng = np.random.default_rng(0)
    x, A = rng.normal(size=(5, 3)), rng.normal(size=(5, 6))
    answers = []
    for each in (function, native(function)):
        buffer, evaluate = each.map(5).buffer()
        outputs = [np.zeros((5, 3)), np.zeros((5, 3))]
        for place, (given, result) in enumerate(zip((x, A), outputs, strict=True)):
            buffer.set_arg(place, memoryview(given))
            buffer.set_res(place, memoryview(result))
        evaluate()
        answers.append(np.hstack(outputs))
    assert answers[0].any()
    assert answers[0].tobytes() == answers[1].tobytes()


def test_an_integrator_of_native_parts():
    """The right-hand side and its sparse Jacobian out of one library; CVODES takes the very same steps."""
    t, x, p = SX.sym("t"), SX.sym("x", 2), SX.sym("p")
    problem = {"t": t, "x": x, "p": p, "ode": casadi.vertcat(x[1], casadi.cos(t) - p * casadi.sin(x[0]))}
    times, options = list(np.linspace(0.1, 3, 30)), {"reltol": 1e-8, "abstol": 1e-10}
    traced = casadi.integrator("stretch", "cvodes", problem, 0.0, times, options)
    oracle = native(*(traced.get_function(name) for name in ("dae", "daeF", "jacF")))
    compiled = casadi.integrator("stretch", "cvodes", oracle, 0.0, times, options)
    assert all(compiled.get_function(name).is_a("External") for name in ("daeF", "jacF"))
    answers = [np.array(each(x0=[1, 0], p=9.81)["xf"]) for each in (traced, compiled)]
    assert answers[0].tobytes() == answers[1].tobytes()


def test_a_jacobian_comes_along():
    """CasADi finds jac_f in the library of f, and uses it in MX expressions."""
    x = SX.sym("x", 3)
    function = casadi.Function("f", [x], [casadi.sin(x) * x[0]], ["x"], ["y"])
    compiled = native(function, function.jacobian())
    z = casadi.MX.sym("z", 3)
    slope = casadi.Function("slope", [z], [casadi.jacobian(compiled(z), z)])
    point = [0.3, -0.4, 0.5]
    assert same_bits(slope(point), function.jacobian()(point, 0))
    with pytest.raises(RuntimeError, match="[Dd]erivative"):
        casadi.Function("slope", [z], [casadi.jacobian(native(function)(z), z)])


# The cache


def test_compiled_once(kept, monkeypatch):
    """An equal function, traced anew, is found; another one is not."""
    assert cached(sample()) is None
    assert native(sample()) is not None
    monkeypatch.setattr(supervised, "Supervised", lambda *words: pytest.fail("compiled again"))
    found = cached(sample()).function
    assert same_bits(found([1, 2, 3], np.eye(3))[0], sample()([1, 2, 3], np.eye(3))[0])
    assert native(sample()) is not None
    assert cached(sample(factor=3.0)) is None
    assert cached(sample(), sample().jacobian()) is None


def test_the_larger_effort_is_found(kept):
    """Both are kept; the one does not stand for the other."""
    assert native(sample(), effort=QUICK) is not None
    assert cached(sample()).effort == QUICK
    assert native(sample()) is not None
    assert len(kept.entries()) == 2
    assert cached(sample()).effort == FULL


def test_maps_are_told_apart(kept):
    """By what they map and how many times, whatever they are called."""
    assert native(sample().map(4)) is not None
    assert cached(sample().map(4)) is not None
    for other in (sample(), sample().map(5), sample(factor=3.0).map(4), sample().map(4).map(4), sample().map(16)):
        assert cached(other) is None


def test_derivatives_made_meanwhile_leave_no_trace():
    """The key of a function is that of its expressions, whatever has been done with it."""
    function = sample()
    native(function)
    function.jacobian(), function.forward(2), function.map(3), function([1, 2, 3], 1)
    assert cached(function) is not None


def test_code_leaves_the_processors_modes_alone(kept, monkeypatch):
    """Fast arithmetic of $CC would flush subnormal numbers of the whole process to 0 where it is loaded."""
    compiler = next(filter(shutil.which, compiling.COMPILERS))
    monkeypatch.setenv("CC", f"{compiler} -funsafe-math-optimizations -ffast-math -Ofast")
    x = casadi.SX.sym("x")
    compiled, tiny = native(casadi.Function("trace", [x], [x / 3 * 2])), np.array([3e-310])
    assert float(compiled(tiny)) == tiny[0] / 3 * 2 > 0


def test_another_compiler_another_entry(kept, monkeypatch):
    """Arguments in $CC count, and are passed on."""
    native(sample())
    compiler = next(filter(shutil.which, compiling.COMPILERS))
    monkeypatch.setenv("CC", f"{compiler} -DMARK=1")
    assert cached(sample()) is None
    assert native(sample()) is not None
    assert len(kept.entries()) == 2


@pytest.mark.parametrize("what", ["FLAGS", rare("LIBRARIES")])
def test_other_flags_another_entry(what, kept, monkeypatch):
    """Code that was compiled with other flags is not taken for this one's."""
    native(sample())
    assert cached(sample()) is not None
    monkeypatch.setattr(compiling, what, (*getattr(compiling, what), "-L."))
    assert cached(sample()) is None
    native(sample())
    assert cached(sample()) is not None
    assert len(kept.entries()) == 2


def test_removed_while_in_use(kept):
    """A function that is loaded outlives its file."""
    compiled = native(sample())
    assert kept.clear() == 1
    assert same_bits(compiled([1, 2, 3], np.eye(3))[0], sample()([1, 2, 3], np.eye(3))[0])
    assert cached(sample()) is None


CHILD = """
import sys
import casadi, numpy as np
from kronbot.compute.native import compiling, cost
x = e = casadi.SX.sym("x", 30)
for k in range(20):
    e = casadi.sin(e) * casadi.cos(x) + e / (k + 1)
function = casadi.Function("trace", [x], [e])
sys.stdin.read()
compiled = compiling.compiled(cost.FULL, function).function
at = np.linspace(-1, 1, 30)
assert np.array_equal(compiled(at), function(at))
"""


@pytest.mark.slow
def test_many_processes_on_a_cold_cache(kept, tmp_path, monkeypatch):
    """All at once succeed; one of them compiles, and leaves one entry."""
    compiler = next(filter(shutil.which, compiling.COMPILERS))
    monkeypatch.setenv("CC", script(tmp_path / "counted", f'echo >> {tmp_path}/count; exec {compiler} "$@"'))
    pipe = subprocess.PIPE
    crowd = [subprocess.Popen([sys.executable, "-c", CHILD], stdin=pipe, stderr=pipe, text=True) for _ in range(6)]
    for each in crowd:
        each.stdin.close()
    messages = [each.stderr.read() for each in crowd]
    assert [each.wait() for each in crowd] == [0] * 6, "".join(messages)
    assert (tmp_path / "count").read_text() == "\n"
    assert len(kept.entries()) == 1
    assert left_over(kept) == []


@pytest.mark.slow
def test_the_end_of_the_process_leaves_nothing(kept, tmp_path, monkeypatch):
    """Whatever it is doing; once the compiler has been waited for there is nothing left to be ended."""
    before = dict(UNFINISHED)
    monkeypatch.setenv("CC", script(tmp_path / "cc", f"echo $$ > {tmp_path}/pid; exec sleep 300"))
    with compiling.Compilation(FULL, 0, Functions(sample())):
        soon(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        assert len(left_over(kept)) == 2
        end_unfinished()
        demand_dead(int((tmp_path / "pid").read_text()))
        assert left_over(kept) == []
    monkeypatch.delenv("CC")
    assert native(sample()) is not None
    assert before == UNFINISHED == {}


def test_a_lock_that_is_never_freed(kept, monkeypatch, reasons):
    """Waiting ends, and means interpretation; a lock file without a holder means nothing."""
    native(sample())
    library = entry(kept)
    library.unlink()
    with library.with_suffix(".lock").open("w") as held, monkeypatch.context() as hasty:
        fcntl.flock(held, fcntl.LOCK_EX)
        library.touch()
        with kept.turn(library.stem, patience=0.0):
            pass  # nothing to wait for
        library.unlink()
        hasty.setattr(compiling, "TIMEOUT", 0.2)
        hasty.setattr(policy, "SILENT", 0.0)
        assert native(sample()) is None
        assert "another process is still compiling" in reasons()
        assert reasons().count("waiting for another process that compiles the same, 0.2 s at most") == 1
    assert native(sample()) is not None


def test_a_file_system_without_locks(kept, monkeypatch):
    """Compiles all the same, and leaves no lock."""

    def refuse(handle, operation):
        raise OSError("no locks here")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert native(sample()) is not None
    assert list(kept.path.glob("*.lock")) == []


# Code of others


def test_a_tampered_library_is_not_loaded(kept, reasons):
    """Not even a sound one with a function of that name; compiling puts the right one back."""
    native(sample())
    first = entry(kept)
    native(sample(factor=3.0))
    (other,) = {each.path for each in kept.entries()} - {first}
    content = first.read_bytes()
    shutil.copy(other, first)
    assert cached(sample()) is None
    assert "is not what was stored" in reasons()
    compiled = native(sample())
    assert same_bits(compiled([1, 2, 3], np.eye(3))[0], sample()([1, 2, 3], np.eye(3))[0])
    assert len(first.read_bytes()) == len(content)


@pytest.mark.parametrize("suffix", [".so", rare(".sha256")])
def test_links_and_files_that_others_can_write_are_refused(kept, tmp_path, suffix):
    """Whatever they hold; compiling replaces them."""
    native(sample())
    file = entry(kept).with_suffix(suffix)
    file.chmod(0o620)
    assert cached(sample()) is None
    assert native(sample()) is not None
    assert file.stat().st_mode & 0o777 == 0o600
    shutil.copy(file, tmp_path / "elsewhere")
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere")
    assert cached(sample()) is None
    assert native(sample()) is not None
    assert not file.is_symlink()


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_folder_that_others_can_write_is_refused(kept, mode, reasons):
    """Neither used nor filled."""
    native(sample())
    kept.path.chmod(mode)
    assert cached(sample()) is None
    assert native(sample(factor=3.0)) is None
    assert "chmod go-w" in reasons()
    assert len(kept.entries()) == 1


def test_a_linked_folder_is_refused(kept, tmp_path, reasons):
    """The link may be somebody else's."""
    native(sample())
    kept.path.rename(tmp_path / "moved")
    kept.path.symlink_to(tmp_path / "moved")
    assert cached(sample()) is None
    assert native(sample(factor=3.0)) is None
    assert "is a link" in reasons()


def test_a_folder_that_everybody_can_rename_is_refused(kept, tmp_path, reasons):
    """The folder above must not be everybody's, unless sticky and root's, as /tmp is."""
    tmp_path.chmod(0o777)
    assert native(sample()) is None
    assert "rename" in reasons()
    tmp_path.chmod(0o1777)
    assert (native(sample()) is not None) == (tmp_path.stat().st_uid == 0)


def test_a_folder_of_somebody_else_is_refused(monkeypatch, reasons):
    """Ownership is by the effective user."""
    native(sample())
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    assert cached(sample()) is None
    assert "somebody else" in reasons()


def test_the_folder_is_private(kept):
    """Whatever the umask, nobody else gets in."""
    before = os.umask(0)
    try:
        native(sample())
    finally:
        os.umask(before)
    assert kept.path.stat().st_mode & 0o777 == 0o700
    assert cached(sample()) is not None


# Where there is no native code


@pytest.mark.parametrize("settings", [{"CC": "/nothing/cc"}, {"PATH": ""}, {"CC": "'"}, {"PATH": f":.:{os.pardir}/in"}])
def test_no_compiler(settings, tmp_path, monkeypatch, reasons):
    """None, and a debug line; what is called so in the current folder is not asked."""
    place = tmp_path / "in"
    place.mkdir()
    monkeypatch.chdir(place)
    for each in ("cc", "gcc", "clang"):
        Path(each).write_text(f"#!/bin/sh\n: >{tmp_path}/asked\n")
        Path(each).chmod(0o700)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert native(sample()) is None
    assert cached(sample()) is None
    assert "no native code: " in reasons()
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("echo unhappy; touch traced.so; exit 1", "unhappy"),
        ("exit 0", "ended well and made nothing"),
        ("mkdir traced.so", "traced.so is not a file"),
    ],
)
def test_a_compiler_that_fails(text, reason, kept, tmp_path, monkeypatch, reasons):
    """Also one that claims success; nothing stays behind."""
    monkeypatch.setenv("CC", script(tmp_path / "broken", text))
    assert native(sample()) is None
    assert reason in reasons()
    assert kept.entries() == []
    assert left_over(kept) == []


def test_a_full_disk_leaves_nothing_behind(kept, monkeypatch, reasons):
    """Where there was room for the digest alone it is not kept, either."""
    whole = os.open

    def full(name, flags, *mode, **where):
        stored = str(name).endswith(".so") and flags & os.O_CREAT
        return whole("/dev/full" if stored else name, flags & ~os.O_EXCL if stored else flags, *mode, **where)

    monkeypatch.setattr(os, "open", full)
    assert native(sample()) is None
    monkeypatch.undo()
    assert "No space left" in reasons()
    assert os.listdir(kept.path) == []


KEY = "c" * 64


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("failing", [".sha256", ".so"])
def test_what_takes_no_place_leaves_nothing_wrong(kept, monkeypatch, failing, stored):
    """Whichever of the two it is, and whether there was another before: the one that stays is right, or none."""
    if stored:
        with kept.build_folder(KEY) as place:
            kept.store(KEY, b"before", place)
    whole = os.replace

    def full(name, target, **where):
        if str(target).endswith(failing):
            raise OSError(errno.EIO, "Input/output error")
        whole(name, target, **where)

    monkeypatch.setattr(os, "replace", full)
    with kept.build_folder(KEY) as place, pytest.raises(OSError, match="Input/output"):
        kept.store(KEY, b"after", place)
    before = {f"{KEY}.sha256", f"{KEY}.so"} if stored and failing == ".sha256" else set()
    assert {*os.listdir(kept.path)} == before
    assert kept.content(KEY, "so") == (b"before" if before else None)


def test_digests_of_what_came_no_further_go(kept):
    """Of a process that was killed between the two; not those of one that is at it."""
    for key, age in (("a" * 64, cache.ABANDONED + 60), ("b" * 64, 0)):
        digest = kept.path / f"{key}.sha256"
        digest.write_text("0" * 64)
        os.utime(digest, (time.time() - age,) * 2)
    with cache.Cache(kept.path):
        assert [name[0] for name in os.listdir(kept.path) if name.endswith(".sha256")] == ["b"]


def test_a_library_that_does_not_load(kept, tmp_path, monkeypatch, reasons):
    """Bytes that no loader takes."""
    monkeypatch.setenv("CC", script(tmp_path / "broken", "echo nonsense > traced.so"))
    assert native(sample()) is None
    assert cached(sample()) is None
    assert "no library for this machine" in reasons()


HARM = {
    "lacks the function": ("echo 'int foo(void) {return 1;}' > traced.c", "trace"),
    "ends when called": ("sed -i 's/return 0;/__builtin_trap(); return 0;/' traced.c", "does harm"),
    "ends when asked": ("sed -i 's/n_in(void) { return/n_in(void) { __builtin_trap(); return/' traced.c", "does harm"),
    "ends when loaded": ("echo '__attribute__((constructor)) void foo(void) {_exit(0);}' >> traced.c", "ended with 0"),
}


@pytest.mark.parametrize("harm", HARM)
def test_what_fails_at_its_trial_is_not_kept(harm, kept, tmp_path, monkeypatch, reasons):
    """Or every later run would meet it, with a good compiler, too; nor does it end this process."""
    compiler = next(filter(shutil.which, compiling.COMPILERS))
    text, reason = HARM[harm]
    monkeypatch.setenv("CC", script(tmp_path / "harmful", f'{text}; exec {compiler} "$@"'))
    assert native(sample()) is None
    assert reason in reasons()
    assert kept.entries() == [] and left_over(kept) == []


# Pages of zeros in the place of the second half, of every page but the first, and of the code.
DAMAGE = {
    "half": "S=$(stat -c %s traced.so); truncate -s $((S/2)) traced.so; truncate -s $S traced.so",
    "all but the head": "S=$(stat -c %s traced.so); truncate -s 4096 traced.so; truncate -s $S traced.so",
    "code": "dd if=/dev/zero of=traced.so bs=4096 seek=1 count=1 conv=notrunc 2>/dev/null",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_library_ends_no_process(damage, kept, tmp_path, monkeypatch, reasons):
    """The compiler ends well, as where a disk has lost what was written: its sizes and headers are right."""
    compiler = next(filter(shutil.which, compiling.COMPILERS))
    monkeypatch.setenv("CC", script(tmp_path / "damaging", f'{compiler} "$@" && {DAMAGE[damage]}'))
    child = subprocess.run([sys.executable, "-c", CHILD], input="", text=True, capture_output=True, check=False)
    assert child.returncode == 1 and "NoneType" in child.stderr
    assert kept.entries() == [] and left_over(kept) == []


X = SX.sym("x", 3)
NUMBERS = ("SAFETY", "LEAST", "MOST", "SMALL", "POWER", "NOW", "BEFORE", "PATIENCE", "HOPELESS")
# Each with a trap for sed.
KINDS = {
    "functions": (Functions(sample()), "s/return 0;/__builtin_trap(); return 0;/"),
    "calls": (Calls(sample().map(3)), "s/return 0;/__builtin_trap(); return 0;/"),
    "rows": (Rows(casadi.Function("f", [X], [casadi.sin(X)]), []), "s/int rows = count/__builtin_trap(); &/"),
    "strides": (Strides(dict.fromkeys(NUMBERS, 1.0), lambda *_: 1.0), "/^double factor/{n;s/{/{ __builtin_trap();/}"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_compiled_is_called_once_elsewhere(kind, kept, tmp_path, monkeypatch, reasons):
    """Each kind of function by its own interface: a trap in it is met there, and nothing without."""
    compiler = next(filter(shutil.which, compiling.COMPILERS))
    subject, trap = KINDS[kind]
    said, wait = [], supervised.Supervised.wait
    monkeypatch.setattr(supervised.Supervised, "wait", lambda *given: said.append(wait(*given)) or said[-1])
    assert compiling.made(FULL, subject) is not None
    assert said[-1] == (True, "ended with 0: loading\ntried")
    monkeypatch.setenv("CC", script(tmp_path / "trapped", f"sed -i '{trap}' traced.c; exec {compiler} \"$@\""))
    assert compiling.made(FULL, subject) is None
    assert "does harm: the process that tried it ended with 1" in reasons()  # 132 or 133


ENDLESS = '__attribute__((constructor)) void foo(void) {{system("echo $PPID > {0}.part; mv {0}.part {0}"); for (;;);}}'


@pytest.mark.parametrize("end", ["its time", "Ctrl-C"])
def test_a_trial_that_does_not_end(end, kept, tmp_path, monkeypatch, reasons):
    """It is ended, and nothing is left of it."""
    compiler, pid = next(filter(shutil.which, compiling.COMPILERS)), tmp_path / "pid"
    words = f"cat >> traced.c <<'X'\n{ENDLESS.format(pid)}\nX\n"
    monkeypatch.setenv("CC", script(tmp_path / "endless", f'{words}exec {compiler} "$@"'))
    if end == "its time":
        ends = supervised.Supervised.ends
        monkeypatch.setattr(compiling, "TRIAL", 0.0)
        monkeypatch.setattr(
            supervised.Supervised, "ends", lambda one, time: (time or soon(pid.exists)) and ends(one, time)
        )
        assert native(sample()) is None
        assert "comes to no end where it is tried" in reasons()
        assert native(sample(factor=3.0)) is None
        assert "has timed out before" in reasons()
    else:
        interrupting = threading.Thread(target=lambda: (soon(pid.exists), os.kill(os.getpid(), signal.SIGINT)))
        interrupting.start()
        with pytest.raises(KeyboardInterrupt):
            native(sample())
        interrupting.join()
    demand_dead(int(pid.read_text()))
    assert kept.entries() == [] and left_over(kept) == []


def test_a_program_that_python_is_a_part_of(kept, monkeypatch):
    """It is not begun anew for a trial; nor is one needed where Python cannot begin."""
    for number, program in enumerate(["/bin/false", "/usr/bin/python-that-is-not-there", ""]):
        monkeypatch.setattr(sys, "executable", program)
        assert native(sample(factor=number)) is not None


@pytest.mark.parametrize("variable", ["CC", "CPATH", "sanitizer"])
def test_code_with_other_answers_is_not_used(variable, kept, tmp_path, monkeypatch, reasons):
    """Options and headers of the user's that give sine another meaning; and what would end the program."""
    compiler = next(filter(shutil.which, compiling.COMPILERS))
    (tmp_path / "math.h").write_text("#include_next <math.h>\n#define sin(x) (0.125)\n")
    settings = {"CC": f"{compiler} -Dsin=cos", "sanitizer": f"{compiler} -fsanitize=address"}
    monkeypatch.setenv(variable if variable == "CPATH" else "CC", settings.get(variable, str(tmp_path)))
    x = casadi.SX.sym("x", 2)
    assert native(casadi.Function("f", [x], [casadi.sin(x)])) is None
    assert ("sanitizer" if variable == "sanitizer" else "has other answers: look at CC and CPATH") in reasons()
    assert kept.entries() == [] and left_over(kept) == []


LIES = {
    "pipe": "mkfifo traced.so",
    "folder": "mkdir traced.so",
    "link": "ln -s /etc/passwd traced.so",
    "zero": "ln -s /dev/zero traced.so",
    "other": f"cp {sys.executable} traced.so",
    "cut": "cat > own.c; {compiler} -shared -fPIC -o whole.so -xc /dev/null && head -c 9000 whole.so > traced.so",
    "empty library": "{compiler} -shared -fPIC -o traced.so -xc /dev/null",
    "escapes": "printf '\\033[31mred\\033]0;title\\007'; exit 1",
}


@pytest.mark.parametrize("lie", thinned(list(LIES), ["pipe", "link", "zero", "cut", "escapes"]))
def test_compilers_that_lie(lie, kept, tmp_path, monkeypatch, reasons):
    """Whatever they leave for an answer: no code, a reason, nothing behind, and no waiting."""
    compiler = next(filter(shutil.which, compiling.COMPILERS))
    monkeypatch.setenv("CC", script(tmp_path / "liar", LIES[lie].format(compiler=compiler)))
    assert native(sample()) is None
    assert reasons()
    assert left_over(kept) == []
    assert native(sample()) is None


def test_a_cut_library_is_not_loaded(kept):
    """The loader would map what is not there, and the process end at the first look at it."""
    native(sample())
    library = entry(kept).read_bytes()
    program = Path(sys.executable).read_bytes()
    assert elf.plausible(library, program)
    assert not elf.plausible(library[: len(library) // 2], program)
    assert not elf.plausible(program[:60], program)
    assert not elf.plausible(library[:18] + b"\xff" + library[19:], program)


@pytest.mark.parametrize("numbers", [(5, 11), rare(range(4, 24, 3))])
def test_few_open_files(numbers, tmp_path):
    """A reason, the right code, and no folder left behind, wherever it fails."""
    folders = [tmp_path / str(most) for most in numbers]
    for folder in folders:
        with Cache(folder, create=True):
            pass
    answer = subprocess.run(
        [sys.executable, "-c", FEW_FILES, *folders], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert answer.returncode == 0, answer.stderr
    for folder in folders:
        with Cache(folder) as kept:
            assert left_over(kept) == [], folder


# A process of its own for each number of files, which is the folder's name.
FEW_FILES = """
import os, resource, sys
import casadi
from kronbot.compute.native import compiling, cost
x = casadi.SX.sym("x")
function = casadi.Function("trace", [x], [casadi.sin(x)])
import fcntl, logging, platform
platform.machine()
logging.basicConfig(level=logging.DEBUG)
failed = []
for folder in sys.argv[1:]:
    if child := os.fork():
        failed += [folder] * (os.waitpid(child, 0)[1] != 0)
        continue
    most = int(os.path.basename(folder))
    os.environ["KRONBOT_CACHE"] = folder
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    code = compiling.compiled(cost.FULL, function)
    assert code is None or code.function(1) == function(1)
    sys.exit()
if failed:
    sys.exit(f"failed in {failed}")
"""


KILLED = """
import casadi
from kronbot.compute.native import compiling, cost
x = casadi.SX.sym("x")
compiling.compiled(cost.FULL, casadi.Function("trace", [x], [casadi.sin(x)]))
"""


def test_killed_without_a_word(kept, tmp_path, monkeypatch):
    """The compiler ends too; its folder goes with the next run."""
    pids = tmp_path / "pids"
    monkeypatch.setenv("CC", script(tmp_path / "slow", SLOW.format(pids)))
    parent = subprocess.Popen([sys.executable, "-c", KILLED])
    while not pids.exists():
        assert parent.poll() is None
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    demand_dead(*map(int, pids.read_text().split()))
    assert len(left_over(kept)) == 2  # and the lock
    cached(sample())
    assert left_over(kept) == []


def test_functions_that_c_does_not_have():
    """CasADi writes calls of erfinv, which no library defines; called, they would end the process."""
    x = SX.sym("x")
    assert native(casadi.Function("trace", [x], [casadi.erfinv(x)])) is None


def test_functions_that_cannot_be_generated():
    """A free symbol."""
    x, y = SX.sym("x"), SX.sym("y")
    assert native(casadi.Function("trace", [x], [x + y], {"allow_free": True})) is None


def test_no_place_for_a_cache(tmp_path, monkeypatch):
    """A file stands where the folder would be."""
    (tmp_path / "file").write_text("")
    for place in ("file", "file/cache"):
        monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path / place))
        assert native(sample()) is None


def test_too_large(monkeypatch, reasons):
    """Embedded functions count."""
    x = SX.sym("x", 50)
    inner = casadi.Function("inner", [x], [casadi.sin(x)], {"never_inline": True})
    outer = casadi.Function("trace", [x], [inner(x)[0]])
    assert outer.n_instructions() < 150 + 50
    monkeypatch.setattr(compiling, "MAX_INSTRUCTIONS", outer.n_instructions() + 50)
    assert native(outer) is None
    assert f"more than {compiling.MAX_INSTRUCTIONS} instructions" in reasons()
    assert worthwhile([instructions(outer)], [10**9], 1.0) is None


SLOW = "echo > $TMPDIR/cc.s; sleep 300 & echo $! > {0}.part; echo $$ >> {0}.part; mv {0}.part {0}; wait"


def test_a_compiler_that_takes_too_long(kept, tmp_path, monkeypatch, reasons):
    """It is told that it is waited for, ends with all that it has started, and is not asked again."""
    pids, told = tmp_path / "pids", []
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("CC", script(tmp_path / "slow", SLOW.format(pids)))
    ends = supervised.Supervised.ends
    monkeypatch.setattr(supervised.Supervised, "ends", lambda compiler, _: soon(pids.exists) or ends(compiler, 0.0))
    with policy.native("on", waiting=told.append):
        assert native(sample()) is None
    assert "timed out after 120 s" in reasons()
    assert told == [f"the compiler ({tmp_path}/slow), 120 s at most"]
    demand_dead(*map(int, pids.read_text().split()))
    pids.unlink()
    assert native(sample(factor=3.0)) is None
    assert "has timed out before" in reasons() and not pids.exists()
    assert left_over(kept) == []
    assert list((tmp_path / "tmp").iterdir()) == []


def test_an_interrupted_compilation(kept, tmp_path, monkeypatch):
    """Ctrl-C goes through, and nothing is left running or lying about."""
    pids = tmp_path / "pids"
    monkeypatch.setenv("CC", script(tmp_path / "slow", SLOW.format(pids)))

    def interrupt():
        while not pids.exists():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        native(sample())
    demand_dead(*map(int, pids.read_text().split()))
    assert left_over(kept) == []
