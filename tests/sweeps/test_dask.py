"""A Dask cluster gives the same bytes as processes of this machine; what goes wrong with it is told."""

import logging
import os
import pickle
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from lines import demand_same
from sweeps.cheap import Cheap, swept
from thinned import rare

from kronbot.errors import ComputationError, Interrupted, UsageError
from kronbot.sweeps.engines import dask
from kronbot.sweeps.place import Place

if find_spec("distributed") is None:  # importing it takes half a second
    pytest.skip("Dask is not installed", allow_module_level=True)
HERE = Path(__file__).parents[1]


def text(sweep):
    return b"".join(done.text for done in sweep.chunks())


@contextmanager
def cluster(folder, workers):
    """A scheduler, by its file, and workers of it, as ``dask scheduler`` and ``dask worker`` start them."""
    file = folder / "scheduler.json"
    environment = os.environ | {"PYTHONPATH": f"{HERE.parent}:{HERE}"}
    dask = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--no-dashboard",
        "--port",
        "0",
        "--host",
        "127.0.0.1",
    ]
    log = open(folder / "log", "w")  # noqa: SIM115
    started = [subprocess.Popen([*dask, "--scheduler-file", str(file)], stdout=log, stderr=log, env=environment)]
    try:
        while not file.exists():
            time.sleep(0.1)
        for _ in range(workers):
            command = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file)]
            command += ["--nthreads", "1", "--no-dashboard", "--local-directory", str(folder)]
            started.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment))
        yield file, started
    finally:
        for process in started:
            process.send_signal(signal.SIGTERM)
        for process in started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        log.close()


@pytest.mark.slow
def test_the_same_bytes_and_a_scheduler_that_dies_leaves_what_is_computed(tmp_path):
    expected = swept(Cheap(), {"EI": "-1:9:3001"}).task.done(0, 3001).text
    place = Place.named(str(tmp_path / "out.csv"), resume=True)
    log = tmp_path / "computed"
    with cluster(tmp_path, 2) as (file, started):
        # A worker that is killed costs nothing.
        once = Cheap(deadly=(5.0,), once=str(tmp_path / "once"))
        demand_same(text(swept(once, {"EI": "-1:9:3001"}, scheduler=str(file))), expected)
        coming = swept(Cheap(str(log), pause=0.01), {"EI": "0:1:3001"}, place=place, scheduler=str(file))
        object.__setattr__(coming, "progress", lambda share: started[0].kill() if share > 0.1 else None)
        with pytest.raises(ComputationError, match="the connection to the scheduler is lost.*resume"):
            text(coming)
    before = len(log.read_text().splitlines())
    whole = text(swept(Cheap(str(log)), {"EI": "0:1:3001"}, place=place))
    assert whole == swept(Cheap(), {"EI": "0:1:3001"}).task.done(0, 3001).text
    assert before + 3001 > len(log.read_text().splitlines()) > before


@pytest.mark.slow
def test_a_scheduler_without_workers_is_told(tmp_path, monkeypatch):
    """Once, to whoever waits; those that come later do the work."""
    told = []

    def warning(*words):
        told.append(words[0] % words[1:])
        raise KeyboardInterrupt

    monkeypatch.setattr(dask, "PATIENCE", 3.0)
    monkeypatch.setattr(dask, "PAUSE", 0.25)
    monkeypatch.setattr(logging.getLogger("kronbot"), "warning", warning)
    with cluster(tmp_path, 0) as (file, _), pytest.raises(Interrupted):
        text(swept(Cheap(), {"EI": [1]}, scheduler=str(file)))
    (said,) = told
    assert re.fullmatch(r"the scheduler at (\S+) has no workers; this waits for some: dask worker \1", said)


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_told_in_time(tmp_path, monkeypatch):
    assert (dask.PATIENCE, dask.PAUSE) == (10, 2)
    monkeypatch.setattr(dask, "PATIENCE", 0.5)
    with pytest.raises(ComputationError, match=r"no Dask scheduler answers within 0\.5 s"):
        text(swept(Cheap(), {"EI": [1]}, scheduler="tcp://127.0.0.1:9"))
    with pytest.raises(UsageError, match="No such file"):
        text(swept(Cheap(), {"EI": [1]}, scheduler=str(tmp_path / "nothing.json")))
    for content in ("[1]", '{"address": 5}', '{"address": "tcp://"}'):
        (tmp_path / "other.json").write_text(content)
        with pytest.raises(UsageError, match="not the file of a Dask scheduler"):
            text(swept(Cheap(), {"EI": [1]}, scheduler=str(tmp_path / "other.json")))


@pytest.mark.slow
def test_a_client_that_was_never_whole_is_not_waited_for():
    """As where settings for TLS lack; nothing is printed of it when the process ends, either."""
    script = (
        "import kronbot\nfrom kronbot.errors import ComputationError\n"
        "try: kronbot.load('canadarm').sweep('modes', over={'EI': [1, 2]}, scheduler='tls://127.0.0.1:9').result()\n"
        "except ComputationError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "no Dask scheduler answers (" in done.stdout and not done.stderr


@pytest.mark.parametrize("kind", ["endless", "deep", "a pipe without a writer"])
def test_hostile_scheduler_files_end_at_once(tmp_path, kind):
    file = Path("/dev/zero") if kind == "endless" else tmp_path / "file"
    if kind == "deep":
        file.write_text("[" * 100_000)
    elif not hasattr(os, "mkfifo"):
        pytest.skip("pipes with names")
    elif kind != "endless":
        os.mkfifo(file)
    with pytest.raises(UsageError, match="not the file of a Dask scheduler"):
        text(swept(Cheap(), {"EI": [1]}, scheduler=str(file)))


class Evil:
    """A pickle that is a program."""

    def __reduce__(self):
        return os.mkdir, ("made by a pickle",)


PICKLE = pickle.dumps(Evil())


@pytest.fixture
def complaints():
    """Tracebacks that Dask prints."""
    found = []
    handler = logging.Handler()
    handler.emit = lambda record: found.append(record) if record.exc_info else None
    logging.getLogger("distributed").addHandler(handler)
    yield found
    logging.getLogger("distributed").removeHandler(handler)


@pytest.mark.parametrize(
    "says",
    [
        rare(b""),
        rare(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        struct.pack("<QQQ", 16 + len(PICKLE), 1, len(PICKLE)) + PICKLE,  # in the frames of Dask
    ],
    ids=["nothing", "http", "pickle"],
)
def test_who_is_no_scheduler_is_not_waited_for(says, monkeypatch, tmp_path, complaints):
    """A connection is accepted, and then nothing comes, or something else, which is neither run nor printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(dask, "PATIENCE", 0.5)
    monkeypatch.setattr(dask, "PAUSE", 0.25)
    heard = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen():
            with suppress(OSError):
                while True:
                    heard.append(server.accept()[0])
                    heard[-1].sendall(says)

        threading.Thread(target=listen, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises((ComputationError, MemoryError)):
            text(swept(Cheap(), {"EI": [1]}, scheduler=address))
        server.shutdown(socket.SHUT_RDWR)
    for each in heard:
        each.close()
    assert not list(tmp_path.iterdir()) and not complaints


def test_what_is_no_address_is_wrong_usage(monkeypatch):
    """Nobody is asked, nothing waits."""
    monkeypatch.setattr(dask, "_imported", None)
    for address in ("tcp://", "file://a.json", "tcp://host", "tcp://:8786", "tcp://a:0", "tcp://a:70000", "tcp://[::1"):
        with pytest.raises(UsageError, match="an address like tcp://HOST:8786 is wanted, or the path of a sch"):
            text(swept(Cheap(), {"EI": [1]}, scheduler=address))


@pytest.mark.parametrize("address", ["ucx://127.0.0.1:1", "tls://127.0.0.1:1", "inproc://x", "tcp://[::1]:1"])
def test_addresses_that_dask_cannot_use_are_told(address, monkeypatch):
    monkeypatch.setattr(dask, "PATIENCE", 0.5)
    with pytest.raises(ComputationError, match="no Dask scheduler answers"):
        text(swept(Cheap(), {"EI": [1]}, scheduler=address))


BEGIN = """
import sys
from kronbot.errors import UsageError
from kronbot.sweeps.engines.dask import _imported
try:
    _imported()
except UsageError as error:
    sys.exit(str(error))
import os, dask.config
print(dask.config.get("distributed.client.preload"), os.environ["HOME"])
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="programs of POSIX")
def test_no_program_of_the_current_folder_is_asked_for_the_processor(tmp_path):
    """Of which clients tell schedulers."""
    (tmp_path / "uname").write_text(f"#!/bin/sh\n: >{tmp_path}/asked\n")
    (tmp_path / "uname").chmod(0o700)
    told = BEGIN + "import distributed.versions\ndistributed.versions.get_versions()\n"
    environment = os.environ | {"PYTHONPATH": str(HERE.parent), "PATH": f":.:{os.environ['PATH']}"}
    assert subprocess.run([sys.executable, "-c", told], cwd=tmp_path, env=environment, timeout=100).returncode == 0
    assert not (tmp_path / "asked").exists()


@pytest.mark.skipif(os.name != "posix", reason="owners of POSIX")
@pytest.mark.parametrize("whose", [rare("linked"), "shared", rare("shared and empty"), rare("DASK_CONFIG")])
def test_settings_that_others_can_have_laid_are_refused(tmp_path, whose):
    """They name code that a client of Dask runs; HOME is another user's where sudo keeps it."""
    home = tmp_path / "home"
    folder = home / ".config" / "dask"
    folder.mkdir(parents=True)
    home.chmod(0o777 if whose.startswith("shared") else 0o700)
    if whose != "shared and empty":
        (folder / "d.yaml").write_text("distributed: {client: {preload: [json]}}")
    else:
        folder.rmdir()
    if whose == "linked":  # to what is one's own
        folder.rename(home / "elsewhere")
        folder.symlink_to(home / "elsewhere")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DASK")}
    environment |= {"PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(home)}
    if whose == "DASK_CONFIG":
        (folder / "d.yaml").chmod(0o666)
        environment |= {"HOME": str(tmp_path / "nobody"), "DASK_CONFIG": str(folder / "d.yaml")}
    told = subprocess.run([sys.executable, "-c", BEGIN], env=environment, capture_output=True, text=True, timeout=100)
    if whose == "linked":
        assert told.stdout == f"['json'] {home}\n", told.stderr
    elif whose == "shared and empty":
        assert told.stdout == f"[] {home}\n", told.stderr
    else:
        assert "others can change them" in told.stderr
