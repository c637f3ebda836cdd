"""Robot files that coverage guides: mutations are kept where they reach new code of kronbot.description.

    python tests/fuzzing/guided.py --count 100000

Needs atheris. The first fault ends the run; its file is left in the folder that is named then.
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

import atheris  # noqa: E402

with atheris.instrument_imports(include=["kronbot.description"]):
    from fuzzing import harness, strategies

    import kronbot.description.loading  # noqa: F401

LONGEST = 8192


def mutated(content, size, number):
    """Lines or bytes changed in our ways, or in libFuzzer's."""
    source = random.Random(number)
    change = source.choice((strategies.spliced, strategies.damaged, lambda _, text: atheris.Mutate(text, size)))
    return change(source, content)[:size]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000, help="how many files")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    (folder / "table.csv").write_bytes(strategies.TABLE)
    (folder / "corpus").mkdir()
    for name, text in strategies.shipped_texts().items():
        (folder / "corpus" / name).write_bytes(text)

    def check(content):
        path = folder / "robot.yaml"
        path.write_bytes(content)
        arguments = ["check", str(path), "--format", "json"]
        found = harness.faults(harness.attempt(arguments, harness.peak()), arguments, content)
        if found:
            raise AssertionError(f"{path}: {'; '.join(found)}")

    limits = [f"-runs={options.count}", f"-seed={options.seed}", f"-max_len={LONGEST}", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *limits, str(folder / "corpus")], check, custom_mutator=mutated)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
