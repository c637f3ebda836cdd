"""How a search of IPOPT is stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi

from kronbot.errors import Interrupted


class Watch(casadi.Callback):
    """What IPOPT asks after every iteration, ``done`` so far, whether to go on: until what watches raises something.

    That is ``heard`` here: of what comes through CasADi it would write a traceback.
    """

    def __init__(self, opti: Any, watch: Callable[[], None]) -> None:
        super().__init__()
        self.sizes, self.watch = (
            {"x": opti.nx, "f": 1, "g": opti.ng, "lam_x": opti.nx, "lam_g": opti.ng, "lam_p": opti.np},
            watch,
        )
        self.done, self.heard = -1, list[BaseException]()
        self.construct("watch", {})

    @property
    def reason(self) -> str:
        """Why a search was stopped. Raises what is no interruption, but an error of whoever watches."""
        first = self.heard[0]
        if isinstance(first, Interrupted):
            return str(first)
        if isinstance(first, KeyboardInterrupt):
            return "interrupted"
        raise first

    def get_n_in(self) -> int:
        """As many as a solver has results."""
        return int(casadi.nlpsol_n_out())

    def get_n_out(self) -> int:
        """Whether to stop."""
        return 1

    def get_sparsity_in(self, place: int) -> casadi.Sparsity:
        """Columns, as long as the result."""
        return casadi.Sparsity.dense(self.sizes.get(casadi.nlpsol_out(place), 0), 1)

    def eval(self, given: object) -> list[int]:
        """1 where the search is to stop."""
        self.done += 1
        try:
            self.watch()
        except BaseException as error:
            self.heard.append(error)
        return [len(self.heard[:1])]
