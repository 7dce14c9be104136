"""Objectives over Dask: rows of the data in partitions across a cluster.

Nothing here needs to be called: `Logistic`, `LeastSquares` and the like take Dask arrays, Dask dataframes and lists of
delayed blocks as they take arrays, and run on the current `distributed.Client` (on a cluster in this process where
there is none).
"""

from frankwolfe.distributed.cluster import ClusterParts, current_client
from frankwolfe.distributed.distribute import distribute

__all__ = ["ClusterParts", "current_client", "distribute"]
