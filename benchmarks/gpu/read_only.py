"""One plain read of a matrix on the GPU: what no pass can beat."""

# pyright: reportInvalidTypeForm=false, reportMissingImports=false
import triton
import triton.language as tl


@triton.jit
def read_only(A, out, n, d, stride, ROWS: tl.constexpr, COLS: tl.constexpr, STAGES: tl.constexpr):
    """Read A once and do next to nothing with it: what no pass can beat."""
    cols = tl.arange(0, COLS)
    acc = tl.zeros([ROWS, COLS], tl.float32)
    for block in tl.range(tl.program_id(0), tl.cdiv(n, ROWS), tl.num_programs(0), num_stages=STAGES):
        rows = block * ROWS + tl.arange(0, ROWS)
        place = A + rows.to(tl.int64)[:, None] * stride + cols[None, :]
        acc += tl.load(place, mask=(rows < n)[:, None] & (cols < d)[None, :], other=0.0).to(tl.float32)
    tl.store(out + tl.program_id(0), tl.sum(tl.sum(acc, axis=1), axis=0))
