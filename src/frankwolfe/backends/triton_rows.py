"""One read of a dense matrix on the GPU: product, margins, residual and gradient together, in Triton.

A program takes blocks of whole rows into registers, multiplies them with v, forms margins and residual, and adds
residual times rows to its own part of the gradient. `totals` adds the parts, and `update` takes the rest of a step:
averages, oracle and clock, all on the device. `torch_rows.py` holds the plain twin of the pass.

Kernels with losses in them are made from those here, for a loss, by `with_loss` of `triton_losses.py`. Arithmetic is in
the precision of v, and parts are added in double precision. With v in double precision the same kernel reads float32,
bfloat16 or uint8 data and certifies.
"""

# pyright: reportInvalidTypeForm=false
from frankwolfe.backends.triton_losses import slope, tl, triton, value

L2, L1, LINF = 0, 1, 2
RECORD = 5  # numbers kept of a step: f(x), f(y), <g, y>, min <θ, v>, max <-g, v>


@triton.jit
def _bytes(a):
    """Return bytes as float32, exactly.

    They become the last bytes of floats between 2^23 and 2^24, which then lose 2^23, in the pipes that do the
    arithmetic anyway; the plain conversion is slower than the memory.
    """
    return tl.inline_asm_elementwise(
        """{
        .reg .b32 t<4>;
        prmt.b32 t0, $4, 0x4B000000, 0x7440;
        prmt.b32 t1, $4, 0x4B000000, 0x7441;
        prmt.b32 t2, $4, 0x4B000000, 0x7442;
        prmt.b32 t3, $4, 0x4B000000, 0x7443;
        sub.f32 $0, t0, 0f4B000000;
        sub.f32 $1, t1, 0f4B000000;
        sub.f32 $2, t2, 0f4B000000;
        sub.f32 $3, t3, 0f4B000000;
        }""",
        constraints="=r,=r,=r,=r,r",
        args=[a],
        dtype=tl.float32,
        is_pure=True,
        pack=4,
    )


@triton.jit
def row_pass(
    A,  # n x d, rows `stride` apart, of any number type
    v,
    known,  # image of the point that x and y were mixed from, where KNOWN
    b,
    share,  # weights of the rows, one number where not WEIGHTED
    coef,  # x's and y's weights of `known` and of the product A v: (x known, x product, y known, y product)
    product,  # out: A v, where KEEP
    watched,  # out: the image of x
    ahead,  # out: the image of y, where APART
    parts,  # out: gradient at y, one part per program
    sums,  # out: f(y), <g, y>, f(x), one part per program, unless APART
    n,
    d,
    stride,
    WEIGHTED: tl.constexpr,
    KNOWN: tl.constexpr,
    KEEP: tl.constexpr,
    EVEN: tl.constexpr,
    ROWS: tl.constexpr,
    COLS: tl.constexpr,
    STAGES: tl.constexpr,
    APART: tl.constexpr,  # values are computed by `values` afterwards: every thread of a row would repeat them here
    BYTES: tl.constexpr,
):
    """Take one read of A."""
    program = tl.program_id(0)
    cols = tl.arange(0, COLS)
    inside = cols < d
    vector = tl.load(v + cols, mask=inside, other=0.0)
    x_known, x_product = tl.load(coef), tl.load(coef + 1)
    y_known, y_product = tl.load(coef + 2), tl.load(coef + 3)
    weight = tl.load(share)
    gradient = tl.zeros([COLS], vector.dtype)
    at_y = tl.zeros([ROWS], vector.dtype)
    inner = tl.zeros([ROWS], vector.dtype)
    at_x = tl.zeros([ROWS], vector.dtype)
    for block in tl.range(program, tl.cdiv(n, ROWS), tl.num_programs(0), num_stages=STAGES):
        rows = block * ROWS + tl.arange(0, ROWS)
        live = rows < n
        place = A + rows.to(tl.int64)[:, None] * stride + cols[None, :]
        if EVEN:
            raw = tl.load(place, mask=live[:, None], other=0)
        else:
            raw = tl.load(place, mask=live[:, None] & inside[None, :], other=0)
        a = _bytes(raw).to(vector.dtype) if BYTES else raw.to(vector.dtype)
        q = tl.sum(a * vector[None, :], axis=1)
        x = x_product * q
        y = y_product * q
        if KNOWN:
            m = tl.load(known + rows, mask=live, other=0.0)
            x += x_known * m
            y += y_known * m
        if KEEP:
            tl.store(product + rows, q, mask=live)
        tl.store(watched + rows, x, mask=live)
        target = tl.load(b + rows, mask=live, other=0.0)
        if WEIGHTED:  # noqa: SIM108
            weights = tl.load(share + rows, mask=live, other=0.0)
        else:
            weights = tl.where(live, weight, 0.0)
        if APART:
            r = weights * slope(y, target)
            tl.store(ahead + rows, y, mask=live)
        else:
            r = weights * slope(y, target)
            at_y += weights * value(y, target)
            inner += r * y
            at_x += weights * value(x, target)
        gradient += tl.sum(a * r[:, None], axis=0)
    tl.store(parts + program.to(tl.int64) * COLS + cols, gradient)
    if not APART:
        tl.store(sums + program * 3, tl.sum(at_y.to(tl.float64), axis=0))
        tl.store(sums + program * 3 + 1, tl.sum(inner.to(tl.float64), axis=0))
        tl.store(sums + program * 3 + 2, tl.sum(at_x.to(tl.float64), axis=0))


@triton.jit
def values(x, y, b, share, sums, n, WEIGHTED: tl.constexpr, BLOCK: tl.constexpr):
    """Return f(y), <g, y> and f(x) from the images: one part per program."""
    program = tl.program_id(0)
    rows = program * BLOCK + tl.arange(0, BLOCK)
    live = rows < n
    target = tl.load(b + rows, mask=live, other=0.0)
    if WEIGHTED:  # noqa: SIM108
        weights = tl.load(share + rows, mask=live, other=0.0)
    else:
        weights = tl.where(live, tl.load(share), 0.0)
    image = tl.load(y + rows, mask=live, other=0.0)
    watched = tl.load(x + rows, mask=live, other=0.0)
    tl.store(sums + program * 3, tl.sum((weights * value(image, target)).to(tl.float64), axis=0))
    tl.store(sums + program * 3 + 1, tl.sum((weights * slope(image, target) * image).to(tl.float64), axis=0))
    tl.store(sums + program * 3 + 2, tl.sum((weights * value(watched, target)).to(tl.float64), axis=0))


@triton.jit
def totals(parts, sums, gradient, total, programs, counted, COLS: tl.constexpr, MANY: tl.constexpr, SLAB: tl.constexpr):
    """Add the parts of all programs of a pass: a slab of the gradient each, the first program the sums as well."""
    slab = tl.program_id(0)
    cols = slab * SLAB + tl.arange(0, SLAB)
    many = tl.arange(0, MANY)
    acc = tl.zeros([SLAB], tl.float64)
    for first in range(0, programs, MANY):
        rows = first + many
        part = tl.load(parts + rows[:, None] * COLS + cols[None, :], mask=(rows < programs)[:, None], other=0.0)
        acc += tl.sum(part.to(tl.float64), axis=0)
    tl.store(gradient + cols, acc.to(gradient.dtype.element_ty))
    if slab == 0:
        at_y = tl.zeros([MANY], tl.float64)
        inner = tl.zeros([MANY], tl.float64)
        at_x = tl.zeros([MANY], tl.float64)
        for first in range(0, counted, MANY):
            rows = first + many
            live = rows < counted
            at_y += tl.load(sums + rows * 3, mask=live, other=0.0)
            inner += tl.load(sums + rows * 3 + 1, mask=live, other=0.0)
            at_x += tl.load(sums + rows * 3 + 2, mask=live, other=0.0)
        tl.store(total, tl.sum(at_y, axis=0))
        tl.store(total + 1, tl.sum(inner, axis=0))
        tl.store(total + 2, tl.sum(at_x, axis=0))


@triton.jit
def update(
    gradient,
    total,
    x,
    v,
    theta,
    xs,  # out: every x met, a row each
    ys,  # out: every y met
    records,  # out: see RECORD
    clock,  # iteration k, rows written so far, offset of the schedule, radius: in double precision
    coef,  # out: weights of the next pass
    d,
    SET: tl.constexpr,
    MOMENTUM: tl.constexpr,
    COLS: tl.constexpr,
):
    """Finish a step of (accelerated) Frank-Wolfe: one program."""
    cols = tl.arange(0, COLS)
    inside = cols < d
    k, row = tl.load(clock), tl.load(clock + 1)
    offset, radius = tl.load(clock + 2), tl.load(clock + 3)
    exact = 2.0 / (k + offset)
    then = 2.0 / (k + 1 + offset)
    G = tl.load(gradient + cols, mask=inside, other=0.0)
    X = tl.load(x + cols, mask=inside, other=0.0)
    V = tl.load(v + cols, mask=inside, other=0.0)
    delta = exact.to(G.dtype)
    place = row.to(tl.int64) * d + cols
    tl.store(xs + place, X, mask=inside)
    if MOMENTUM:
        tl.store(ys + place, (1 - delta) * X + delta * V, mask=inside)
        T = (1 - delta) * tl.load(theta + cols, mask=inside, other=0.0) + delta * G
    else:
        T = G
    size = tl.max(tl.abs(T), axis=0)
    if SET == 0:  # the Euclidean ball
        S = T / tl.where(size > 0, size, 1.0)
        norm = tl.sqrt(tl.sum(S * S, axis=0))
        V = -(radius / tl.where(norm > 0, norm, 1.0)).to(G.dtype) * S
        wide = G.to(tl.float64)
        support = radius * tl.sqrt(tl.sum(wide * wide, axis=0))
    elif SET == 1:  # the l1 ball
        best = tl.argmax(tl.abs(T), axis=0)
        V = tl.where(cols == best, tl.where(T > 0, -radius, radius), 0.0).to(G.dtype)
        support = radius * tl.max(tl.abs(G), axis=0).to(tl.float64)
    else:  # the cube
        V = tl.where(inside, tl.where(T > 0, -radius, radius), 0.0).to(G.dtype)
        support = radius * tl.sum(tl.abs(G).to(tl.float64), axis=0)
    lowest = tl.sum(T.to(tl.float64) * V.to(tl.float64), axis=0)
    tl.debug_barrier()  # the clock has been read by all
    tl.store(x + cols, (1 - delta) * X + delta * V, mask=inside)
    tl.store(v + cols, V, mask=inside)
    tl.store(theta + cols, T, mask=inside)
    out = records + row.to(tl.int64) * 5
    tl.store(out, tl.load(total + 2))
    tl.store(out + 1, tl.load(total))
    tl.store(out + 2, tl.load(total + 1))
    tl.store(out + 3, lowest)
    tl.store(out + 4, support)
    tl.store(clock, k + 1)
    tl.store(clock + 1, row + 1)
    tl.store(coef, 1 - delta)
    tl.store(coef + 1, delta)
    if MOMENTUM:
        tl.store(coef + 2, ((1 - then) * (1 - exact)).to(G.dtype))
        tl.store(coef + 3, ((1 - then) * exact + then).to(G.dtype))
    else:
        tl.store(coef + 2, 1 - delta)
        tl.store(coef + 3, delta)


@triton.jit
def batch_residual(
    q,  # B x n: products with the vectors that were pending
    known,  # B x n, where KNOWN
    b,
    share,
    coef,  # B x 4: as in `row_pass`, for each problem
    watched,  # out: B x n, images of the x's
    residual,  # out: B x n, at the y's
    sums,  # out: f(y), <g, y>, f(x) for each problem and program
    n,
    WEIGHTED: tl.constexpr,
    KNOWN: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Do between the two products of a batch all that is entry by entry."""
    part, problem = tl.program_id(0), tl.program_id(1)
    rows = part * BLOCK + tl.arange(0, BLOCK)
    live = rows < n
    place = problem.to(tl.int64) * n + rows
    product = tl.load(q + place, mask=live, other=0.0)
    x = tl.load(coef + problem * 4 + 1) * product
    y = tl.load(coef + problem * 4 + 3) * product
    if KNOWN:
        m = tl.load(known + place, mask=live, other=0.0)
        x += tl.load(coef + problem * 4) * m
        y += tl.load(coef + problem * 4 + 2) * m
    tl.store(watched + place, x, mask=live)
    target = tl.load(b + rows, mask=live, other=0.0)
    if WEIGHTED:  # noqa: SIM108
        weights = tl.load(share + rows, mask=live, other=0.0)
    else:
        weights = tl.where(live, tl.load(share), 0.0)
    r = weights * slope(y, target)
    tl.store(residual + place, r, mask=live)
    out = sums + (problem * tl.num_programs(0) + part) * 3
    tl.store(out, tl.sum((weights * value(y, target)).to(tl.float64), axis=0))
    tl.store(out + 1, tl.sum((r * y).to(tl.float64), axis=0))
    tl.store(out + 2, tl.sum((weights * value(x, target)).to(tl.float64), axis=0))
