"""With labels or without: one rule, for files and frames alike."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isonomy.audit import Audit, SelectionAudit
from isonomy.audit.labelled import audit_table, has_labels
from isonomy.errors import InputError


@pytest.fixture
def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 600
    return pd.DataFrame(
        {
            "race": rng.choice(["a", "b"], n),
            "age": rng.integers(18, 70, n),
            "job": rng.choice(["x", "y"], n),
            "hired": rng.integers(0, 2, n),
            "y_true": rng.integers(0, 2, n),
        }
    )


def test_a_table_without_labels_names_its_predictions_only() -> None:
    assert not has_labels(["race", "hired"], None, "hired")
    assert has_labels(["race", "hired", "y_true"], None, "hired")
    assert has_labels(["race", "hired"], "good", "hired")
    assert has_labels(["race", "hired"], None, None)


@pytest.mark.parametrize("labelled", [True, False])
def test_a_frame_is_audited_as_its_file(
    people: pd.DataFrame, labelled: bool, tmp_path: Path
) -> None:
    frame = people if labelled else people.drop(columns="y_true")
    frame.to_parquet(tmp_path / "p.parquet")
    options: dict = {
        "prediction": "hired", "sensitive_features": ["race", "age"], "bins": {"age": [40]},
        "strata": "job", "privileged": {"race": "a"}, "resamples": 100,
    }  # fmt: skip
    made = [audit_table(source, **options) for source in (frame, tmp_path / "p.parquet")]
    for found in made:
        assert type(found) is (Audit if labelled else SelectionAudit)
    pd.testing.assert_frame_equal(made[0].frame(), made[1].frame())
    pd.testing.assert_frame_equal(made[0].sizes, made[1].sizes)


def test_a_missing_column_is_one_sentence(people: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="There is no column 'hird'"):
        audit_table(people, prediction="hird", sensitive_features="race")
    with pytest.raises(InputError, match="There is no column 'y_true'"):
        audit_table(people.drop(columns="y_true"), sensitive_features="race")
