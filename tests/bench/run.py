"""All comparisons with one command: python tests/bench/run.py [PART ...] [--json FILE]; see --help."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[1])

from bench.command import main  # noqa: E402 - found through the path set above

if __name__ == "__main__":
    main()
