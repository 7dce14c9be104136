"""The paper's experiments: every figure and table, and a verdict on every claim.

One module per experiment: `fig1` to `fig4`, `table`, `claims` (with `theory` and `errata`), and beyond the paper
`beyond` (rates on other sets) and `certificates`. Each lists its pieces of work (`tasks`) and turns their outcomes into
a part of the page (`section`). `store` keeps the outcomes as plain files, `runner` does what is missing, `page` writes
it all down.
"""

from frankwolfe.experiments.reproduce import PARTS, reproduce

__all__ = ["PARTS", "reproduce"]
