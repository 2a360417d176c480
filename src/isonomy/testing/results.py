"""The contract of results that travel: run again, they come out the same."""

from pathlib import Path

import numpy as np

from isonomy.store import Record
from isonomy.study import Results, Trial, keys, run_trial
from isonomy.study.run import study_of


def check_results(
    results: Results | str | Path,
    *,
    sample: int = 3,
    where: str = "true",
    random_state: int = 0,
) -> list[Record]:
    """Raise AssertionError unless records of a file, run again, have the same counts and metrics.

    Parameters
    ----------
    results : Results or path
        ``NAME.parquet`` with ``NAME.json`` beside it.
    sample : int
        How many records are drawn and run again; data must be at hand.
    where : str
        A condition in SQL on the runs to draw from: ``"dataset = 'german' and cpu < 1"``.
    random_state : int
        Seed of the draw.

    Returns
    -------
    list of Record
        What was run; fewer than ``sample`` where no more are ok.

    Examples
    --------
    >>> import tempfile
    >>> from isonomy.store import Store
    >>> from isonomy.study import Study, export_results, run
    >>> study = Study("tiny", ["synthetic(n=400)/group"], ["nb"], ["unmitigated"], repeats=2)
    >>> folder = tempfile.mkdtemp()
    >>> store = Store.open(run(study, f"{folder}/run").path)
    >>> len(check_results(export_results(store, folder), sample=1))
    1
    """
    opened = results if isinstance(results, Results) else Results.open(results)
    study = study_of(opened)
    held = {r.key: r for r in opened.records(f"status = 'ok' and repeat is not null and ({where})")}
    rng = np.random.default_rng(random_state)
    done = []
    for key in rng.choice(sorted(held), min(sample, len(held)), replace=False).tolist():
        stored = held[key]
        trial = Trial(stored.dataset, stored.attributes, int(stored.repeat or 0))
        what = f"{stored.mitigator} with {stored.model} on {trial}"
        assert key in keys(study, trial), (
            f"{what} is of other versions or settings: isonomy study run {opened.name} --from "
            f"{opened.path}, then isonomy study export"
        )
        (found,) = run_trial(study, trial, [key])
        _same(found, stored, what)
        done.append(found)
    return done


def _same(found: Record, stored: Record, what: str) -> None:
    assert (found.status, found.rows) == (stored.status, stored.rows), what
    assert (found.counts is None) == (stored.counts is None), what
    if found.counts is not None and stored.counts is not None:
        np.testing.assert_array_equal(found.counts.n, stored.counts.n, err_msg=what)
    # metrics that have been added since are no difference; one that is gone is
    assert found.metrics.keys() >= stored.metrics.keys(), what
    for name, value in stored.metrics.items():
        np.testing.assert_allclose(
            found.metrics[name], value, rtol=1e-9, atol=1e-12, err_msg=f"{name} of {what}"
        )
