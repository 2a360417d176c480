"""The results of Chen et al. (FSE 2025), as their repository lays them out."""

import re
from pathlib import Path

import pandas as pd

from isonomy.papers.archive import PUBLISHED, list_files, refuse_empty, run_block
from isonomy.papers.subgroups import GAPS, PERFORMANCE, SHARES, WORST, of_group
from isonomy.papers.zerosum_2025.cases import BOTH, METHODS, RUNS, TASKS
from isonomy.store.record import Block, magnitude

ARCHIVE = "the zero-sum study's result files (such as rew_lr_adult_sex.txt)"
"""What a folder of the authors' files holds."""

_STUDY = f"zerosum_2025{PUBLISHED}"
_METHODS = {
    "origin": "unmitigated",
    **METHODS,
    "mirrorfairu": "mirror_fair(side=unprivileged)",
    "naivebase": "naive_baseline",
}
_DATASETS = {"mep": "meps"} | {name: name for name, _ in TASKS.values() if name != "meps"}
_ATTRIBUTES = "|".join(sorted({attribute for _, attribute in TASKS.values()}))
_FILE = re.compile(
    rf"^({'|'.join(_METHODS)})_(lr|rf|svm|dl)_({'|'.join(_DATASETS)})_({_ATTRIBUTES}|multi)\.txt$",
    re.IGNORECASE,
)
_TRAINING = "Discussion"


def read_zerosum(folder: str | Path) -> pd.DataFrame:
    """Read the results of Chen et al.: runs of one attribute and of two, with the rates of every group.

    AD was run once, beside ``lr``. What was measured on training rows (the folder Discussion) is
    left out.

    References
    ----------
    Chen, Li, Zhang, Sarro and Liu 2025, Is Bias Mitigation a Zero-Sum Game?, FSE.
    """
    blocks: list[Block] = []
    for file in list_files(folder):
        match = _FILE.match(file.name)
        if match is None or _TRAINING in file.whole.parts:
            continue
        dataset, attribute = _DATASETS[match[3].lower()], match[4].lower()
        if attribute == "multi":
            attributes = BOTH[dataset]
            names = PERFORMANCE | WORST
            names |= {
                f"{short}{a}{b}": of_group(rate, attributes, (a, b))
                for short, rate in SHARES.items()
                for a in "01"
                for b in "01"
            }
        else:
            attributes = (attribute,)
            names = PERFORMANCE | {short: magnitude(gap) for short, gap in GAPS.items()}
            names |= {
                f"{short}{side}": of_group(rate, attributes, digit)
                for short, rate in SHARES.items()
                for side, digit in (("p", "1"), ("u", "0"))
            }
        place = (
            _STUDY,
            dataset,
            "+".join(attributes),
            match[2].lower(),
            _METHODS[match[1].lower()],
        )
        blocks.append(run_block(file, names, place, RUNS))
    return refuse_empty(blocks, folder, ARCHIVE)
