"""Reading a published archive and judging it: files into a frame, Figure 8.

The archive lies in `shared/published/chen` beside the repository; without it nothing is measured.
The peer does the job as the study's own scripts do it: one file at a time.
"""

from pathlib import Path

import pandas as pd
from table import Row, under
from timing import cpu_seconds

__all__ = ["TITLE", "rows"]

TITLE = "Part 7: published results"
ARCHIVE = Path(__file__).resolve().parents[2] / "shared" / "published" / "chen"


def _peer_files(files: list[Path]) -> list[pd.DataFrame]:
    return [pd.read_csv(file, sep="\t", header=None, index_col=0) for file in files]


def rows() -> list[Row]:
    out: list[Row] = []
    if not ARCHIVE.is_dir():
        return out
    from isonomy.papers.chen_2022 import tables as chen_2022
    from isonomy.papers.chen_2022.reader import read_chen

    files = sorted((ARCHIVE / "Results").glob("*.txt"))
    ours, frame = cpu_seconds(lambda: read_chen(ARCHIVE))
    peer, _ = cpu_seconds(lambda: _peer_files(files), repeat=1)
    note = f"{len(frame):,} rows, baselines included; the peer makes no frame of them"
    job = f"reading {len(files)} result files into one frame"
    out.append(under(job, "pandas, file by file", 1000 * ours, 1000 * peer, 300, "ms", note))
    ours, table = cpu_seconds(lambda: chen_2022.fig8(frame), repeat=3)
    note = f"{table.cases:,} cases; no peer here"
    out.append(under("Figure 8 of the 17-method study", "-", 1000 * ours, None, None, "ms", note))
    return out
