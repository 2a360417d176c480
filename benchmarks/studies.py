"""Reading a published archive and judging it: files into a frame, rank tests, Figure 8.

The archive lies in `shared/published/chen` beside the repository; without it only the generated
arrays are measured. The peers do the job as the study's own scripts do it: one file, one pair of
samples at a time.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import mannwhitneyu
from table import Row, under
from timing import cpu_seconds

__all__ = ["TITLE", "rows"]

TITLE = "Part 7: published results and statistics"
ARCHIVE = Path(__file__).resolve().parents[2] / "shared" / "published" / "chen"
TESTS = 14_070


def _peer_tests(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([mannwhitneyu(x, y).pvalue for x, y in zip(a, b, strict=True)])


def _peer_files(files: list[Path]) -> list[pd.DataFrame]:
    return [pd.read_csv(file, sep="\t", header=None, index_col=0) for file in files]


def rows() -> list[Row]:
    from isonomy.stats import mann_whitney

    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(TESTS, 50)).round(3) for _ in range(2))
    ours, result = cpu_seconds(lambda: mann_whitney(a, b))
    peer, expected = cpu_seconds(lambda: _peer_tests(a[:1000], b[:1000]), repeat=1)
    np.testing.assert_allclose(result.pvalue[:1000], expected, rtol=1e-10)
    out = [
        under(
            f"{TESTS:,} Mann-Whitney tests of 50 against 50",
            "SciPy, pair by pair",
            1000 * ours,
            1000 * peer * TESTS / 1000,
            200,
            "ms",
            "equal p-values; the peer's time from 1,000 tests",
        )
    ]
    if not ARCHIVE.is_dir():
        return out
    from isonomy.studies import chen_2022
    from isonomy.study import read_chen

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
