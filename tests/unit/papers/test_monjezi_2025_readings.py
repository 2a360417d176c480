"""Readings of Monjezi et al. (2025), measured on the data."""

from isonomy.data import make_splits, prepare
from isonomy.papers.monjezi_2025.readings import reading_records
from tests.registry import real


def test_readings_are_measured_on_the_data() -> None:
    real("german")
    records = [*reading_records(["german sex"], ["lr"], ["onehot_minmax", "codes_unscaled"])]
    assert [r.status for r in records] == ["ok", "ok"]
    one, other = (r.metrics for r in records)
    assert one["mean_privileged"] != other["mean_privileged"]
    assert one["largest_50_location_unprivileged"] > one["largest_50_threshold_unprivileged"]
    again = reading_records(
        ["german sex"], ["lr"], ["onehot_minmax"], known={r.key for r in records}
    )
    assert [*again] == []


def test_the_switches_of_the_encoding_do_what_they_say() -> None:
    data = real("german")
    split = make_splits(data, 1, splitter="evt")[0]

    def names(**options: object) -> tuple[str, ...]:
        return prepare(data, "evt", attribute="sex", split=split, **options).feature_names

    assert sum("=" in name for name in names()) > 40
    assert not any("=" in name for name in names(codes=True))
    raw = prepare(data, "evt", attribute="sex", split=split, scale=None)
    assert raw.X_train.max() > 1000
    heart = real("heart")
    part = make_splits(heart, 1, splitter="evt")[0]
    years = prepare(heart, "evt", attribute="sex", split=part, age_bins=False).feature_names
    assert "age" in years
    assert "age" not in prepare(heart, "evt", attribute="sex", split=part).feature_names
