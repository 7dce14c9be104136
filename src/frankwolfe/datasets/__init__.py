"""Real data: the paper's datasets by name, and any LIBSVM file by its path.

`load` looks in a local directory first (``directory=``, else the environment variable ``FRANKWOLFE_DATA``), then in the
user's cache, and then downloads from the public source, once. Files are read packed or not, and strictly: a file
known by name must be the published one, and in any other file a fault is an error that names the line.

===============  ===================================================  ====================
name             what                                                 returns
===============  ===================================================  ====================
a9a, a9a.t       census income, training and test set                 `Dataset`, sparse
mushrooms        poisonous or edible                                  `Dataset`, sparse
covtype          forest cover; ``split="train"`` is the paper's 70 %  `Dataset`, sparse
mnist, mnist.t   one handwritten digit against the rest               `Dataset`, dense
movielens100k    film ratings, centred and scaled unless ``raw``      `Ratings`
===============  ===================================================  ====================

Examples
--------
>>> from frankwolfe import datasets
>>> datasets.info("a9a").description
'Census income (Adult), features made binary: does a person earn more than 50000 dollars a year?'
>>> datasets.load("a9a")  # doctest: +SKIP
Dataset('a9a', 32561 samples x 123 features, 451592 nonzeros, classes -1 and 1)
"""

from frankwolfe.datasets.archives import DatasetError
from frankwolfe.datasets.loading import info, load, names, table
from frankwolfe.datasets.registry import DataFile, DatasetInfo
from frankwolfe.datasets.types import Counts, Dataset, Ratings, count

__all__ = [
    "Counts",
    "DataFile",
    "Dataset",
    "DatasetError",
    "DatasetInfo",
    "Ratings",
    "count",
    "info",
    "load",
    "names",
    "table",
]
