"""Answers as labelled arrays of xarray and tables of pandas, where these are installed; neither is required."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kronbot.errors import UsageError
from kronbot.system.importing import imported

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Labels = Mapping[str, Sequence[Any]]


def data_array(labels: Labels, values: npt.NDArray[Any], units: object) -> xr.DataArray:
    """Values with the labels of every axis."""
    array: xr.DataArray = _library("xarray").DataArray(values, dict(labels), list(labels), attrs={"units": units})
    return array


def dataset(
    arrays: Mapping[str, xr.DataArray],
    series: Mapping[str, npt.NDArray[Any]],
    units: Mapping[str, str],
    about: Mapping[str, str],
) -> xr.Dataset:
    """Labelled arrays and equally long columns together; the columns over ``t`` where they have one."""
    along = "t" if "t" in series else "row"
    columns = {
        name: (along, values, {"units": units[name]} if name in units else {}) for name, values in series.items()
    }
    whole: xr.Dataset = _library("xarray").Dataset({**arrays, **columns}, attrs=dict(about))
    return whole


def swept(data: Mapping[str, Any], coordinates: Mapping[str, Any], about: Mapping[str, str]) -> xr.Dataset:
    """Columns over the dimensions that coordinates have."""
    whole: xr.Dataset = _library("xarray").Dataset(dict(data), dict(coordinates), dict(about))
    return whole


def table(series: Mapping[str, npt.NDArray[Any]], units: Mapping[str, str]) -> pd.DataFrame:
    """Equally long columns; their units are in ``attrs``."""
    whole: pd.DataFrame = _library("pandas").DataFrame(dict(series))
    whole.attrs["units"] = dict(units)
    return whole


def frame(labels: Labels, values: npt.NDArray[Any]) -> pd.Series | pd.DataFrame:
    """A vector as a Series; of more axes the last one becomes the columns, the others the index."""
    pandas = _library("pandas")
    (*outer, last) = labels.items()
    if not outer:
        vector: pd.Series = pandas.Series(values, index=list(last[1]), name=None)
        return vector
    index = pandas.MultiIndex.from_product([list(entries) for _, entries in outer], names=[name for name, _ in outer])
    if len(outer) == 1:
        index = pandas.Index(list(outer[0][1]))
    rows: pd.DataFrame = pandas.DataFrame(np.reshape(values, (len(index), -1)), index, list(last[1]))
    return rows


def _library(name: str) -> Any:
    try:
        return imported(name)
    except ImportError:
        raise UsageError(f"this view needs {name}: pip install {name}") from None
