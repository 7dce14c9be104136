"""The exact search along a segment on a GPU, in Triton: two small kernels to a probe, and nothing for the host to see.

`minimise_in_arrays` of the objectives is the plain twin: the same probes, chosen by the same rules.
"""

# pyright: reportInvalidTypeForm=false
from typing import Any

from frankwolfe.backends.triton_losses import curvature, slope, tl, triton, with_loss

BLOCK = 2048  # rows to a program
MANY = 256  # parts added up at a time
SLOTS = 12  # numbers that the search remembers: see `choose`


@triton.jit
def probe(start, step, b, share, state, sums, n, WEIGHTED: tl.constexpr, BLOCK: tl.constexpr):
    """Add up over some rows both derivatives of the loss at the gamma that is to be tried."""
    part = tl.program_id(0)
    rows = part * BLOCK + tl.arange(0, BLOCK)
    live = rows < n
    origin = tl.load(start + rows, mask=live, other=0.0)
    move = tl.load(step + rows, mask=live, other=0.0)
    m = origin + tl.load(state).to(origin.dtype) * move
    target = tl.load(b + rows, mask=live, other=0.0)
    if WEIGHTED:  # noqa: SIM108
        weights = tl.load(share + rows, mask=live, other=0.0)
    else:
        weights = tl.where(live, tl.load(share), 0.0)
    along = weights * move
    tl.store(sums + 2 * part, tl.sum((along * slope(m, target)).to(tl.float64), axis=0))
    tl.store(sums + 2 * part + 1, tl.sum((along * move * curvature(m, target)).to(tl.float64), axis=0))


@triton.jit
def choose(sums, state, parts, limit, STAGE: tl.constexpr, MANY: tl.constexpr):
    """Take in a probe and choose the next: the first is at zero, the second at the cap, the rest are in the bracket.

    The state holds gamma to try, low, high, the best gamma and its derivative, those at zero and at the cap, a trial,
    two coefficients of the ridge term, and the answer.
    """
    cap = tl.load(limit)
    places = tl.arange(0, MANY)
    first, second = tl.zeros((MANY,), tl.float64), tl.zeros((MANY,), tl.float64)
    for i in range(0, parts, MANY):
        some = i + places < parts
        first += tl.load(sums + 2 * (i + places), mask=some, other=0.0)
        second += tl.load(sums + 2 * (i + places) + 1, mask=some, other=0.0)
    gamma = tl.load(state)
    curvature = tl.sum(second, axis=0) + tl.load(state + 9)
    slope = tl.sum(first, axis=0) + tl.load(state + 8) + gamma * tl.load(state + 9)
    left = tl.abs(slope)
    trial = gamma - slope / tl.where(curvature == 0, 1.0, curvature)
    if STAGE == 0:
        tl.store(state + 5, slope)
        tl.store(state + 7, trial)
        tl.store(state, cap)
    else:
        if STAGE == 1:
            at_zero = tl.abs(tl.load(state + 5))
            low, high, trial = cap * 0.0, cap, tl.load(state + 7)
            best, size = tl.where(left < at_zero, cap, cap * 0.0), tl.minimum(left, at_zero)
            tl.store(state + 6, slope)
        else:
            low, high, best, size = tl.load(state + 1), tl.load(state + 2), tl.load(state + 3), tl.load(state + 4)
            best = tl.where(left < size, gamma, best)
            low, high = tl.where(slope < 0, gamma, low), tl.where(slope < 0, high, gamma)
            trial = tl.where(left <= 0.5 * size, trial, high)
            size = tl.minimum(left, size)
        middle = tl.where((low > 0) & (high > 4 * low), tl.sqrt(low * high), 0.5 * (low + high))
        tl.store(state, tl.where((low < trial) & (trial < high), trial, middle))
        tl.store(state + 1, low)
        tl.store(state + 2, high)
        tl.store(state + 3, best)
        tl.store(state + 4, size)
        at_cap = slope if STAGE == 1 else tl.load(state + 6)
        inside = tl.where(at_cap <= 0, cap, best)
        tl.store(state + 11, tl.where(tl.load(state + 5) < 0, inside, cap * 0.0))


def device_search(loss: Any, b: Any, share: Any, start: Any, step: Any, ridge: tuple, cap: float, probes: int) -> Any:
    """Return the gamma in [0, cap] that minimises a linear model on a segment of images, a number on the device.

    The segment begins at the image `start` and is `step` long; `ridge` has both derivatives of the ridge term at zero,
    and `probes` do not count the two ends.
    """
    import torch

    read: Any = with_loss(probe, loss)
    take: Any = choose  # a function that Triton compiles
    n = start.shape[0]
    parts = -(-n // BLOCK)
    state = torch.zeros(SLOTS, dtype=torch.float64, device=start.device)
    for place, number in enumerate(ridge):
        if not isinstance(number, float) or number:
            state[8 + place] = number
    sums = torch.empty((parts, 2), dtype=torch.float64, device=start.device)
    limit = torch.full((), cap, dtype=torch.float64, device=start.device)
    for i in range(probes + 2):
        read[(parts,)](*(start, step, b, share, state, sums, n), WEIGHTED=share.ndim == 1, BLOCK=BLOCK, num_warps=8)
        take[(1,)](sums, state, parts, limit, STAGE=min(i, 2), MANY=MANY, num_warps=1)  # one warp: no races
    return state[11].to(start.dtype)
