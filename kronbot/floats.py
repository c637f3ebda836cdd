"""Arrays of floating point numbers, as most of this package takes and gives them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
