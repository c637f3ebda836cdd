"""Command lines in a worker process, with everything that the harness looks for."""

import pytest
from fuzzing import harness


@pytest.fixture(scope="session")
def worker():
    one = harness.Worker()
    yield one
    one.close()


@pytest.fixture
def kron(worker):
    """Run a command line; whatever it answers, it has none of the faults that the harness looks for."""

    def ask(*arguments, content=None):
        found, answer = harness.judged(worker, list(map(str, arguments)), content)
        assert found == [], answer
        return answer

    return ask


@pytest.fixture
def refused(kron, tmp_path):
    """A robot file, or a command about one, is refused with the exit code 3, or another, and these words."""

    def ask(content, words="", *, command="check", options=(), code=3):
        content = content.encode() if isinstance(content, str) else content
        path = tmp_path / "r.yaml"
        path.write_bytes(content)
        answer = kron(command, path, *options, "--format", "json", content=content)
        assert answer.code == code, answer.err
        assert words in answer.err
        # Without the source lines below them.
        lines = [line for line in answer.err.splitlines() if not line.startswith("  ")]
        return [line.replace(str(path), "r.yaml") for line in lines]

    return ask
