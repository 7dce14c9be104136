"""The paper's experiments: every figure and table, and a verdict on every claim.

`sections` has one module per experiment: each lists its pieces of work (`tasks`), turns their outcomes into a part of
the page (`section`) and judges what the paper says of it. `claims` has every claim with its verdict, `store` keeps the
outcomes as plain files, `runner` does what is missing, `publication` puts all together and writes it down. `demo` is
the short demonstration.
"""

from frankwolfe.paper.reproduce import PARTS, reproduce

__all__ = ["PARTS", "reproduce"]
