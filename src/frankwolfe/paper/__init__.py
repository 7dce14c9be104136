"""The paper's experiments: every figure and table, and a verdict on every claim.

`sections` has one module per experiment: each lists its pieces of work (`tasks`) and turns their outcomes into a part
of the page (`section`). `claims` judges what the paper says. `store` keeps the outcomes as plain files, `runner` does
what is missing, `publication` puts all together and writes it down. `demo` is the short demonstration.
"""

from frankwolfe.paper.reproduce import PARTS, reproduce

__all__ = ["PARTS", "reproduce"]
