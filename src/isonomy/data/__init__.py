"""What we learn from: datasets with their caveats, preparations and splits.

>>> from isonomy.data import load, make_splits, prepare
>>> data = load("synthetic", n=1000)
>>> ready = prepare(data, attribute="group", split=make_splits(data)[0])
"""

from isonomy.data import (  # noqa: F401 - each registers itself
    adult,
    aif360,
    arrests,
    bank,
    boston_hmda,
    communities,
    compas,
    compas_violent,
    default_credit,
    german,
    heart,
    home_credit,
    kdd_census,
    law_school,
    meps,
    recid,
    ricci,
    student,
    synthetic,
    titanic,
    ufrgs,
)
from isonomy.data.catalog import DATASETS, check_dataset, dataset_from, load
from isonomy.data.dataset import Dataset, DatasetInfo
from isonomy.data.own import own_dataset, unknown_notes
from isonomy.data.prepare import Encoded, encode, prepare, rows_of
from isonomy.data.prepared import Part, Prepared
from isonomy.data.splits import Split, make_split, make_splits
from isonomy.data.synthetic import BiasedTruth, make_biased

__all__ = [
    "BiasedTruth",
    "DATASETS",
    "Dataset",
    "DatasetInfo",
    "Encoded",
    "Part",
    "Prepared",
    "Split",
    "check_dataset",
    "dataset_from",
    "encode",
    "load",
    "make_biased",
    "make_split",
    "make_splits",
    "own_dataset",
    "prepare",
    "rows_of",
    "unknown_notes",
]
