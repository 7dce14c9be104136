"""A Triton kernel that is nothing but the formulae of a loss."""

# pyright: reportInvalidTypeForm=false
from typing import Any

from frankwolfe.backends.triton_losses import curvature, slope, tl, triton, value, with_loss


@triton.jit
def terms(m, b, out, n, BLOCK: tl.constexpr):
    """Write value, slope and curvature at each margin, a row each."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = rows < n
    margin = tl.load(m + rows, mask=live, other=0.0)
    target = tl.load(b + rows, mask=live, other=0.0)
    tl.store(out + rows, value(margin, target), mask=live)
    tl.store(out + n + rows, slope(margin, target), mask=live)
    tl.store(out + 2 * n + rows, curvature(margin, target), mask=live)


def formulae(loss: Any, m: Any, b: Any) -> Any:
    """Return value, slope and curvature at each margin."""
    out = m.new_empty((3, m.shape[0]))
    with_loss(terms, loss)[(-(-m.shape[0] // 256),)](m, b, out, m.shape[0], BLOCK=256)
    return out
