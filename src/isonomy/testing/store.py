"""The contract of a store of results."""

import contextlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from isonomy.errors import InputError
from isonomy.store import Store
from isonomy.store.record import COLUMNS, check_frame, records_frame
from isonomy.study.measure import count_metrics, measure_counts
from isonomy.study.results import Results


def check_store(store: Store | str | Path) -> None:
    """Raise AssertionError unless a store of results is sound, whoever wrote it.

    Parameters
    ----------
    store : Store or path
        A folder or a file of results. It is only read; a writer is tested on a copy.

    Examples
    --------
    >>> import tempfile
    >>> from isonomy.study import Study, run
    >>> study = Study("tiny", ["synthetic(n=400)/group"], ["nb"], ["unmitigated"])
    >>> check_store(run(study, tempfile.mkdtemp()).path)
    """
    if not isinstance(store, Store):
        store = Results.open(store) if Path(store).suffix == ".parquet" else Store.open(store)
    for check in STORE_CHECKS.values():
        check(store)


def _has_each_run_once(store: Store) -> None:
    runs = store.runs()
    assert len(runs) == len(store) == len(store.keys())
    assert runs["key"].is_unique
    assert (runs["study"] == store.name).all()


def _gives_reasons(store: Store) -> None:
    runs = store.runs("status <> 'ok'")
    assert (runs["reason"] != "").all(), "a run that is not ok has a reason"


def _views_agree(store: Store) -> None:
    frame = check_frame(store.frame())
    columns = [*COLUMNS[:-3], "status", "reason"]

    def plain(results: pd.DataFrame) -> pd.DataFrame:
        text = results[[*columns, "value"]].astype(dict.fromkeys(columns, "string"))
        return text.sort_values(columns, ignore_index=True)

    for other in (records_frame(store.records()), check_frame(store.query("from results"))):
        pd.testing.assert_frame_equal(plain(frame), plain(other), check_exact=True)


def _metrics_follow_from_counts(store: Store) -> None:
    known = set(count_metrics())
    for record in store.records("status = 'ok' and not starts_with(mitigator, 'mutation(')"):
        if record.counts is None:
            continue
        stored = {name: value for name, value in record.metrics.items() if name in known}
        computed = measure_counts([record.counts], record.attributes, stored)[0]
        for name, value in computed.items():
            np.testing.assert_allclose(value, stored[name], rtol=1e-9, atol=1e-12, err_msg=name)


def _survives_a_kill(store: Store) -> None:
    if isinstance(store, Results):  # nobody can be killed while writing to it
        with contextlib.suppress(InputError), store.writer():
            raise AssertionError("a file of results has no writer")
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(store.path, copy)
        before = Store.open(copy).keys()
        with Store.open(copy).writer():
            pass  # makes the log there is to cut
        for log in (copy / "parts").glob("*.log"):
            with log.open("ab") as file:
                file.write(b"0123abcd [half a ba")
        assert Store.open(copy).keys() == before, "a batch cut short is ignored"
        with Store.open(copy).writer() as writer:
            writer.compact(everything=True)
        assert Store.open(copy).keys() == before
        pd.testing.assert_frame_equal(Store.open(copy).frame(), store.frame(), check_exact=True)


STORE_CHECKS: dict[str, Callable[[Store], None]] = {
    check.__name__.strip("_"): check
    for check in (
        _has_each_run_once,
        _gives_reasons,
        _views_agree,
        _metrics_follow_from_counts,
        _survives_a_kill,
    )
}
"""The clauses of the contract by name; ``check_store`` runs them all."""
