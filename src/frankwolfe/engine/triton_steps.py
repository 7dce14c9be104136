"""Many Frank-Wolfe steps on the GPU without asking the host: kernels launched once, captured, and replayed."""

from __future__ import annotations

from typing import Any, NamedTuple

from frankwolfe.backends import triton_rows
from frankwolfe.backends.torch_rows import DeviceModel, Scratch, Tile
from frankwolfe.engine.cuda_graph import HostCopy, ask_for, captured

kernels: Any = triton_rows  # functions that Triton compiles

LENGTH = 10  # steps in a captured graph; even, since images alternate between two buffers
CAPACITY = 100  # steps whose records are kept until they are read
LONG = 100  # steps after which a run is taken to go on: the next graph is then under way while the host looks
BALLS = {"l2": kernels.L2, "l1": kernels.L1, "linf": kernels.LINF}


class Start(NamedTuple):
    """Where the steps begin: x = x_known·base + x_product·v in images, and the averaged gradient."""

    k: int
    x: Any
    v: Any
    theta: Any  # None before the first step
    base: Any  # None for no image known
    coef: tuple[float, float, float, float]


class Steps(NamedTuple):
    """What steps leave: points and averaged gradient, the image of the last x but one, and a record of each step."""

    x: Any
    v: Any
    theta: Any
    base: Any
    xs: Any
    ys: Any
    records: Any  # on the host, one row per step: f(x), f(y), <g, y>, min <θ, v>, max <-g, v>


class Engine:
    """Buffers and captured graph of one problem: data on a GPU, ball, schedule 2/(k + offset), momentum or not."""

    def __init__(
        self,
        model: DeviceModel,
        dtype: Any,
        ball: str,
        radius: float,
        offset: float,
        momentum: bool,
        chosen: Tile | None = None,
    ) -> None:
        import torch

        n, d = model.A.shape
        self.model, self.ball, self.radius, self.offset, self.momentum = model, ball, radius, offset, momentum
        like = {"dtype": dtype, "device": model.A.device}
        double = {"dtype": torch.float64, "device": model.A.device}
        self.x, self.v, self.theta = (torch.zeros(d, **like) for _ in range(3))
        self.images = [torch.zeros(n, **like) for _ in range(2)]
        self.xs, self.ys = (torch.zeros((CAPACITY, d), **like) for _ in range(2))
        self.coef = torch.zeros(4, **like)
        self.clock = torch.zeros(4, **double)
        self.records = torch.zeros((CAPACITY, kernels.RECORD), **double)
        self.scratch = Scratch(model, self.x, chosen)
        self.warps = 16 if self.scratch.cols > 4096 else 8 if self.scratch.cols > 512 else 4
        self.graph: Any = None
        self.ahead: tuple[int, Any] | None = None  # where steps begin that are under way already

    def advance(self, start: Start, n: int) -> Steps:
        """Take n steps, at most CAPACITY; read one small matrix back."""
        begun = self.ahead is not None and self.ahead[0] == start.k and self.ahead[1] is start.x and n >= LENGTH
        self.ahead = None
        if not begun:
            self._load(start)
        graphs, rest = divmod(n - LENGTH if begun else n, LENGTH)
        if graphs and self.graph is None:
            self.graph = self._captured()
            self._load(start)
        for _ in range(graphs):
            self.graph.replay()  # pyright: ignore[reportOptionalMemberAccess]
        for i in range(rest):
            self._step(i % 2)
        copied = HostCopy(self.records[:n])
        x, v, theta, base = (tensor.clone() for tensor in (self.x, self.v, self.theta, self.images[n % 2]))
        xs, ys = self.xs[:n].clone(), self.ys[:n].clone()
        if start.k + n >= LONG and n % LENGTH == 0:  # under way before the host waits for what it reads
            self.clock[1].zero_()
            self.graph.replay()  # pyright: ignore[reportOptionalMemberAccess]
            self.ahead = start.k + n, x
        return Steps(x, v, theta, base, xs, ys, copied.read())

    def _load(self, start: Start) -> None:
        self.x.copy_(start.x)
        self.v.copy_(start.v)
        self.theta.zero_() if start.theta is None else self.theta.copy_(start.theta)
        self.images[0].zero_() if start.base is None else self.images[0].copy_(start.base)
        self.coef.copy_(self.coef.new_tensor(start.coef))
        self.clock.copy_(self.clock.new_tensor([float(start.k), 0.0, self.offset, self.radius]))

    def _step(self, side: int) -> None:
        here = self.scratch
        here.read(self.v, self.images[side], self.coef, None, self.images[1 - side])
        kernels.update[(1,)](
            *(
                here.gradient,
                here.total,
                self.x,
                self.v,
                self.theta,
                self.xs,
                self.ys,
                self.records,
                self.clock,
                self.coef,
            ),
            self.x.shape[0],
            SET=BALLS[self.ball],
            MOMENTUM=self.momentum,
            COLS=here.cols,
            num_warps=self.warps,
        )

    def _captured(self) -> Any:
        """Return LENGTH steps as a graph, after a warm-up in which the kernels compile."""
        import torch

        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for i in range(2):
                self._step(i % 2)
        torch.cuda.current_stream().wait_stream(side)
        ask_for(0, self.x.device)
        with captured() as graph:
            for i in range(LENGTH):
                self._step(i % 2)
        return graph
