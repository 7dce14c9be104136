"""The paper's experiments: every figure and table, and a verdict on every claim.

One module per experiment: `fig1` to `fig4`, `table`, `beyond` (rates on all the sets), `maps`, `proven` (constants of
the theorems), `why`, `cost` and `certificates`. Each lists its pieces of work (`tasks`) and turns their outcomes into a
part of the page (`section`). `claims` judges what the paper says, by `theorems` and `measured`, into `verdicts`.
`store` keeps the outcomes as plain files, `runner` does what is missing, `summary` puts all together, `page` and
`publish` write it down.
"""

from frankwolfe.experiments.reproduce import PARTS, reproduce

__all__ = ["PARTS", "reproduce"]
