"""Several arrays of a device on the host, by one read."""

from __future__ import annotations

import math

import numpy as np

from frankwolfe.backends.namespace import Array, host, is_foreign, namespace


def together(*arrays: Array) -> tuple[np.ndarray, ...]:
    """Return arrays as NumPy arrays in double precision, with one read of the device for all of them.

    Examples
    --------
    >>> import numpy as np
    >>> together(np.float32(0.5), np.ones(2))
    (array(0.5), array([1., 1.]))
    """
    on_device = [a for a in arrays if is_foreign(a)]
    if not on_device:
        return tuple(np.asarray(a, dtype=np.float64) for a in arrays)
    xp = namespace(*on_device)
    wide = xp.result_type(*on_device)
    row = host(xp.concat([xp.reshape(xp.astype(a, wide), (-1,)) for a in on_device])).astype(np.float64)
    parts = iter(np.split(row, np.cumsum([math.prod(a.shape) for a in on_device])[:-1]))
    return tuple(next(parts).reshape(a.shape) if is_foreign(a) else np.asarray(a, np.float64) for a in arrays)
