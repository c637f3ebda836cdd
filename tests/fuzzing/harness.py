"""Thousands of broken robot files through the command line, and a report of all that was not an answer or a refusal.

    python tests/fuzzing/harness.py --count 100000 --seed 0 --save defects

File number i of a seed is the same on every run. Commands run in a worker process that holds the imported package; one
that takes too long, dies or grows is ended and replaced. For Linux and macOS.
"""

import argparse
import json
import os
import random
import re
import resource
import select
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
if __name__ == "__main__":
    sys.path[0] = str(HERE.parent)

from fuzzing import strategies  # noqa: E402

# Of processor time, which is less on a machine of one's own: for check, and for refusing a file or an option.
SECONDS = 5.0
PATIENT_SECONDS = {"simulate": 200.0}  # for what computes; integrators have a limit of steps that takes a while
USUAL_PATIENCE = 20.0  # for the others
MEMORY = 500e6  # bytes beyond what the imported package takes
PATIENCE = 400.0  # seconds of the clock before a command counts as hanging
ADDRESS_SPACE = 8_000_000_000  # a runaway ends as a MemoryError and not as a dead machine
LONGEST_LINE = 1000
CODES = (0, 1, 2, 3)
LIFE = 1000  # commands a worker answers before a new one takes over
UNIT_OF_MAXRSS = 1 if sys.platform == "darwin" else 1024

OTHERS = (
    ("jacobian",),
    ("jacobian", "--order", "1", "--in", "body"),
    ("hessian", "--order", "1"),
    ("taylor", "--order", "1", "--of", "M", "--terms", "1"),
    ("dynamics", "--order", "1", "--qd", "1"),
    ("modes", "--order", "1"),
    ("linearize", "--order", "0"),
    ("linearize", "--order", "1"),
    ("statics", "--order", "1"),
    ("statics", "--solver", "linear"),
    ("simulate", "--order", "1", "--duration", "0.02", "--step", "0.01"),
)
SHARE_OF_OTHERS = 0.15
SHARE_OF_URDF = 0.05


@dataclass(frozen=True)
class Answer:
    """What a command line did; ``memory`` is the largest so far, bytes beyond the imported package."""

    code: int
    out: str
    err: str
    seconds: float
    memory: float


# ----------------------------------------------------------------------------------------------------------------------
# What is wrong with an answer


def faults(answer, arguments, content=None):
    """What is wrong with an answer, a line each; ``content`` of the robot file tells which places there are."""
    # Below a mistake stand the line it is about and a caret.
    lines = [line for line in answer.err.splitlines() if not re.match(r" +([0-9]+ )?\| ", line)]
    found = []
    if answer.code not in CODES:
        found.append(f"exit code {answer.code}")
    if "Traceback" in answer.err:
        found.append(f"traceback: {lines[-1][:200]}")
    found += [f"unexpected error: {line[:200]}" for line in lines if line.startswith("Error: unexpected ")]
    found += [f"a warning of Python: {line[:200]}" for line in lines if re.match(r".*\.py:[0-9]+: \w*Warning: ", line)]
    if re.search("[^\n -\ud7ff\ue000-\U0010ffff]|[\x7f-\x9f]", answer.err):
        found.append("control characters on stderr")
    if answer.code:
        found += refusal_faults(answer, lines, arguments, content)
    elif "json" in arguments:
        found += json_faults(answer.out)
    computes = answer.code not in (2, 3) and arguments[0] != "check"
    if answer.seconds > (PATIENT_SECONDS.get(arguments[0], USUAL_PATIENCE) if computes else SECONDS):
        found.append(f"slow: {'refused' if answer.code else 'answered'} after {answer.seconds:.1f} s")
    if answer.memory > MEMORY:
        found.append(f"memory: {answer.memory / 1e6:.0f} MB")
    return found


def refusal_faults(answer, lines, arguments, content):
    """What is wrong with how a command line was refused."""
    found = []
    # What a simulation, a sweep or the modes with joints locked have when the rest fails is an answer.
    if answer.out and not (arguments[0] in ("simulate", "statics", "modes") and answer.code == 1):
        found.append("something on stdout with an error")
    mistakes = [line for line in lines if not re.match(r"(.*: )?warning: ", line)]
    if not mistakes:
        found.append("an error without a message")
    longest = max(map(len, lines), default=0)
    if longest > LONGEST_LINE:
        found.append(f"a line of {longest} characters on stderr")
    places = [re.fullmatch(r"(.*?):([0-9]+):([0-9]+): .+", line) for line in mistakes]
    if answer.code == 3:
        found += [f"no place: {line[:200]}" for line, at in zip(mistakes, places, strict=True) if at is None]
        if content is not None:
            last = len(content.decode("utf-8", "replace").splitlines()) + 1
            own = [at for at in places if at and at[1] == arguments[1]]
            found += [f"no such place: {at[0][:200]}" for at in own if int(at[2]) > last]
    elif len(mistakes) > 1 and not all(places) and not mistakes[0].startswith("Usage: "):
        found.append(f"{len(mistakes)} lines for one error: {mistakes[0][:100]}")
    return found


def json_faults(out):
    """What is wrong with JSON on stdout."""

    def refuse(word):
        raise ValueError(f"{word} is no JSON")

    try:
        return [] if isinstance(json.loads(out, parse_constant=refuse), dict) else ["JSON, but no object"]
    except ValueError as error:
        return [f"no JSON: {error}"]


# ----------------------------------------------------------------------------------------------------------------------
# The worker


def peak():
    """Largest resident memory of this process so far, bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT_OF_MAXRSS


@contextmanager
def redirected(*files):
    """File descriptors 1 and 2, and the Python streams on them, go to two files: native code prints too."""
    streams = (sys.stdout, sys.stderr)
    for stream in streams:
        stream.flush()
    copies = [os.dup(number) for number in (1, 2)]
    for number, file in zip((1, 2), files, strict=True):
        os.dup2(file.fileno(), number)
    with ExitStack() as opened:
        sys.stdout, sys.stderr = (
            opened.enter_context(open(number, "w", encoding="utf-8", errors="backslashreplace", closefd=False))
            for number in (1, 2)
        )
        try:
            yield
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            sys.stdout, sys.stderr = streams
            for number, copy in zip((1, 2), copies, strict=True):
                os.dup2(copy, number)
                os.close(copy)


def attempt(arguments, baseline=0.0):
    """Run one command line in this process; what it raises stands as a traceback in ``err``, with the code -1."""
    from kronbot.cli.main import run

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.process_time()
        with redirected(out, err):
            try:
                code = run(list(arguments))
            except BaseException:
                traceback.print_exc()
                code = -1
        seconds = time.process_time() - started
        for file in (out, err):
            file.seek(0)
        texts = [file.read().decode("utf-8", "replace") for file in (out, err)]
    return Answer(code, *texts, seconds, peak() - baseline)


def serve():
    """Answer the command lines that come as JSON lines on standard input, until it ends."""
    requests, replies = os.fdopen(os.dup(0), "r", encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    for first in (["check", "canadarm"], ["linearize", "khang"]):
        attempt(first)
    baseline = peak()
    for line in requests:
        replies.write(json.dumps(asdict(attempt(json.loads(line), baseline))) + "\n")
        replies.flush()


class Worker:
    """A process that runs command lines one after the other."""

    def __init__(self, patience=PATIENCE):
        self.patience = patience
        self.process = None
        self.answered = 0

    def start(self):
        """A fresh process."""
        paths = os.pathsep.join([str(HERE.parent), *filter(None, sys.path)])
        others = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "NO_COLOR": "1", "PYTHONPATH": paths}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "harness.py"), "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | others,
        )
        self.answered = 0

    def ask(self, arguments):
        """The Answer to a command line, or what became of the process."""
        if self.process is None:
            self.start()
        try:
            self.process.stdin.write(json.dumps(list(arguments)).encode() + b"\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], self.patience)
            line = self.process.stdout.readline() if ready else None
        except BrokenPipeError:
            line = b""
        if line:
            answer = Answer(**json.loads(line))
            self.answered += 1
            if answer.memory > MEMORY or self.answered >= LIFE:
                self.close()
            return answer
        hangs = line is None
        code = self.close()
        return f"no answer within {self.patience:g} s" if hangs else f"the process died with code {code}"

    def close(self):
        """End the process; its exit code."""
        process, self.process = self.process, None
        if process is None:
            return None
        process.kill()
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()
        return process.wait()


# ----------------------------------------------------------------------------------------------------------------------
# The run


def case(seed, number, folder):
    """Command line number i of a seed; its robot file and a table are written into the folder."""
    source = random.Random(f"{seed}/{number}")
    (folder / "table.csv").write_bytes(strategies.table(source))
    if source.random() < SHARE_OF_URDF:
        content, path, arguments = strategies.urdf_file(source), folder / f"{number}.urdf", ["convert"]
    else:
        command = source.choice(OTHERS) if source.random() < SHARE_OF_OTHERS else ("check",)
        # What computes sees more of files that are nearly right.
        odd = command != ("check",) and source.random() < 0.5
        content = (strategies.odd_robot_file if odd else strategies.robot_file)(source)
        path, arguments = folder / f"{number}.yaml", [*command, "--format", "json"]
    path.write_bytes(content)
    return [arguments[0], str(path), *arguments[1:]], content


def judged(worker, arguments, content=None):
    """The faults of a command line that a worker runs, and its answer."""
    answer = worker.ask(arguments)
    return ([answer], None) if isinstance(answer, str) else (faults(answer, arguments, content), answer)


class Report:
    """Commands and exit codes; faults by kind, and the shortest file of each kind."""

    def __init__(self, save):
        self.save = save
        self.codes = Counter()
        self.counts = Counter()
        self.shortest = {}
        self.slowest = self.largest = 0.0

    def add(self, number, arguments, content, found, answer):
        if answer is not None:
            self.codes[arguments[0], answer.code] += 1
            self.slowest, self.largest = max(self.slowest, answer.seconds), max(self.largest, answer.memory)
        for fault in found:
            of = re.sub(r"[0-9.]+", "0", re.sub(r"'.*'|\S*/\S*", "...", fault))
            self.counts[of] += 1
            if of not in self.shortest or len(content) < len(self.shortest[of][2]):
                self.shortest[of] = (number, arguments, content, fault)
            if self.save and self.counts[of] <= 10:
                self.save.mkdir(parents=True, exist_ok=True)
                (self.save / f"{number}.yaml").write_bytes(content)
                told = f"{' '.join(arguments)}\n{found}\n{answer.err if answer else ''}"
                (self.save / f"{number}.txt").write_text(told, encoding="utf-8", errors="replace")

    def show(self):
        for of, count in self.counts.most_common():
            number, arguments, content, fault = self.shortest[of]
            options = " ".join(arguments[:1] + arguments[2:])
            print(f"{count:6} x {fault}\n         file {number} ({len(content)} bytes): {options}")
        for command in sorted({command for command, _ in self.codes}):
            ended = ", ".join(f"{n} with {code}" for (name, code), n in sorted(self.codes.items()) if name == command)
            print(f"{command}: {ended}")
        print(f"slowest {self.slowest:.1f} s, largest {self.largest / 1e6:.0f} MB")


def fuzz(seed, first, count, report):
    """Files first ... first + count - 1 of a seed."""
    worker = Worker()
    with tempfile.TemporaryDirectory() as name:
        os.environ.setdefault("KRONBOT_CACHE", f"{name}/cache")
        for number in range(first, first + count):
            arguments, content = case(seed, number, Path(name))
            report.add(number, arguments, content, *judged(worker, arguments, content))
            Path(arguments[1]).unlink()
        worker.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="how many files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first file")
    parser.add_argument("--save", type=Path, help="folder for files that showed a fault")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return 0
    report = Report(options.save)
    started = time.monotonic()
    fuzz(options.seed, options.first, options.count, report)
    report.show()
    print(f"{options.count} files, {report.counts.total()} faults, {time.monotonic() - started:.0f} s")
    return 1 if report.counts else 0


if __name__ == "__main__":
    sys.exit(main())
