"""A hundred deliberate mistakes, a hundred clear sentences: what was wrong, and what to do."""

import bz2
import pickle
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import StandardScaler

import isonomy as iso
from isonomy.data import DATASETS
from isonomy.errors import IsonomyError
from isonomy.mitigators import (
    EqualizedOdds,
    ExponentiatedGradient,
    GridSearch,
    RejectOption,
    Reweighing,
)
from isonomy.study import Study
from isonomy.testing import check_mitigator
from isonomy.tradeoff import post_processing_frontier
from tests.e2e.command import isonomy

STUDY = """name = "mine"
tasks = ["synthetic(n=200)/group"]
models = ["nb"]
repeats = 2

[[method]]
mitigator = "unmitigated"
"""
WRONG_STUDIES = {
    "syntax": STUDY.replace('"mine"', ""),
    "nameless": STUDY.split("\n", 1)[1],
    "typo": STUDY.replace("repeats", "repeat"),
    "nomodel": STUDY.replace('"nb"', '"nbb"'),
    "nodata": STUDY.replace("synthetic", "synthetik"),
    "attribute": STUDY.replace("/group", "/sex"),
    "notask": STUDY.replace("/group", ""),
    "negative": STUDY.replace("= 2", "= -2"),
    "word": STUDY.replace("= 2", '= "two"'),
    "place": STUDY.replace('"mine"', '"../../x"'),
    "nomethod": STUDY.replace("unmitigated", "unmitigatd"),
    "seed": STUDY.replace("repeats = 2", "repeats = 2\nseed = 1"),
    "source": STUDY.replace(
        "synthetic(n=200)/group",
        "people/sex",
    )
    + """
[[source]]
name = "people"
path = "p.csv"
label = "y"
favorable = "good"
sensitive_features = ["sex"]
privileged = { sex = "m" }
""",
    "parameter": STUDY.replace("unmitigated", "reject_option(metrc=spd)"),
}
OPTIONS = {
    "$A": "--label y --prediction yhat --sensitive sex --favorable good --quiet",
    "$L": "--label y --sensitive sex --favorable good --privileged sex=m --quiet",
    "$B": "--label y --base base --prediction yhat --sensitive sex --favorable good --quiet",
    "$T": "m.csv --sensitive male --label y --favorable good --drop race --trust --quiet",
}


def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 240
    sex = rng.choice(["f", "m"], n)
    skill = (rng.normal(size=n) + 0.6 * (sex == "m")).round(3)
    p = 1 / (1 + np.exp(-skill))
    columns = {
        "sex": sex,
        "race": rng.choice(["a", "b", "c"], n),
        "skill": skill,
        "wage": (20 + 5 * skill).round(2),
        "id": [f"p{k}" for k in range(n)],
        "same": 1,
        "y": np.where(rng.random(n) < p, "good", "bad"),
        "yhat": np.where(p > 0.5, "good", "bad"),
        "base": np.where(skill > 0.2, "good", "bad"),
        "score": p.round(4),
    }
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place, rows = tmp_path_factory.mktemp("mistakes"), people()
    rows.to_csv(place / "p.csv", index=False)
    rows.assign(sex="f").to_csv(place / "one.csv", index=False)
    rows.assign(y="good").to_csv(place / "allgood.csv", index=False)
    rows.rename(columns={"sex": "sex, given"}).to_csv(place / "commas.csv", index=False)
    (place / "empty.csv").write_text("")
    (place / "header.csv").write_text("sex,y,yhat\n")
    (place / "twice.csv").write_text("sex,y,y,yhat\nf,1,1,0\nm,0,1,1\n")
    (place / "broken.parquet").write_bytes(b"PAR1 nothing")
    (place / "p.csv.bz2").write_bytes(bz2.compress((place / "p.csv").read_bytes()))
    (place / "picture.png").write_bytes(b"\x89PNG")
    (place / "empty").mkdir()
    with duckdb.connect(str(place / "p.duckdb")) as connection:
        connection.register("rows", rows)
        connection.execute("create table a as from rows; create table b as from rows")
    X = pd.DataFrame({"male": (rows["sex"] == "m").astype(int), "skill": rows["skill"]})
    X.assign(y=rows["y"], race=rows["race"]).to_csv(place / "m.csv", index=False)
    models = {"model": LogisticRegression().fit(X, rows["y"]), "list": [1, 2]}
    for name, model in {**models, "unfitted": LogisticRegression()}.items():
        (place / f"{name}.pkl").write_bytes(pickle.dumps(model))
    (place / "bad.pkl").write_bytes(b"not a pickle")
    for name, text in {"mine": STUDY, **WRONG_STUDIES}.items():
        (place / f"{name}.toml").write_text(text)
    (place / "models.toml").write_text('[models]\nforest = "rf(n_estimators=5)"\n')
    (place / "wrongmodels.toml").write_text('[models]\nforest = "rff"\n')
    done = isonomy("study", "run", "mine.toml", "--backend", "serial", cwd=place)
    assert done.returncode == 0, done.stderr
    return place


COMMANDS = [
    # the command line itself
    ("adit p.csv", "No such command 'adit'", "did you mean 'audit'?"),
    ("audit", "Missing argument", "see isonomy audit --help"),
    ("audit p.csv --sensitve sex", "--sensitve", "--sensitive"),
    ("audit p.csv $A more.csv", "more.csv", "see isonomy audit --help"),
    ("audit p.csv $A --resamples ten", "'--resamples'", "integer"),
    ("audit p.csv $A --resamples -5", "'--resamples'", "0"),
    ("audit p.csv --label", "'--label' requires an argument", "see isonomy audit --help"),
    ("study run --out", "'--out' requires an argument", "see isonomy study --help"),
    ("data lst", "No such command 'lst'", "did you mean 'list'?"),
    (
        "audit p.csv --label y --prediction yhat --sensitive sex+race --favorable good",
        "no column 'sex+race'",
        "--sensitive sex,race --intersections",
    ),
    ("tune reject_option p.csv $L", "--param 'bounds=(-0.1, 0.1),(-0.05, 0.05)"),
    ("power --gap 0.6 --base-rate 0.5", "a gap of 0.6 from 0.5 makes it 1.1"),
    # audit: the file
    ("audit q.csv $A", "no file 'q.csv'", "did you mean 'p.csv'?"),
    ("audit p $A", "no file 'p'", "'p.csv'"),
    ("audit empty $A", "'empty' is a folder", "A file must be given"),
    ("audit picture.png $A", "'picture.png'", "must end in .parquet, .csv"),
    ("audit empty.csv $A", "'empty.csv' is empty", "must hold rows"),
    ("audit header.csv $A", "at least one row"),
    ("audit twice.csv $A", "'y' occurs more than once", "rename or drop one"),
    ("audit broken.parquet $A", "'broken.parquet' cannot be read"),
    ("audit p.duckdb $A", "must be named with --table", "'a' and 'b'"),
    ("audit p.duckdb $A --table c", "no table 'c'", "'a' and 'b'"),
    ("audit p.csv $A --table a", "--table is for DuckDB and Excel files"),
    # audit: what its columns mean
    ("audit p.csv --label y --prediction yhat", "protected attribute must be named", "--sensitive"),
    ("audit p.csv --sensitive sex", "no column 'y_true'", "with --label"),
    ("audit p.csv --label y --sensitive sex", "no column 'y_pred'", "with --prediction"),
    (
        "audit p.csv --label y --sensitive sex --favorable good --score score",
        "name yours with --prediction 'score>=0.5'",
    ),
    ("audit p.csv $A --prediction 'race>=0.5'", "must hold numbers to be cut in two", "'race'"),
    ("audit p.csv $A --prediction 'score>=half'", "prediction must be a column or COLUMN>NUMBER"),
    ("audit p.csv --label y --prediction yht --sensitive sex", "'yht'; did you mean 'yhat'?"),
    ("audit p.csv --label y --prediction yhat --sensitive gender", "no column 'gender'", "'sex'"),
    ("audit p.csv --label y --prediction yhat --sensitive sex", "--favorable", "'bad' and 'good'"),
    ("audit p.csv $A --favorable Great", "no favourable label 'Great'", "'good'"),
    ("audit p.csv --label y --prediction score --sensitive sex --favorable good", "must be labels"),
    ("audit p.csv --label y --prediction sex --sensitive sex", "'sex' plays several", "another"),
    ("audit p.csv $A --score yhat", "Scores must be numbers", "name another column"),
    ("audit p.csv $A --weight race", "must hold numbers", "name another column"),
    ("audit p.csv $A --weight skill", "must not be negative", "'skill'"),
    ("audit p.csv --label y --prediction yhat --sensitive id --favorable good", "merge its values"),
    ("audit one.csv $A", "at least two groups", "every row of 'sex' is 'f'"),
    ("audit p.csv $A --privileged m", "must be ATTRIBUTE=VALUE; got 'm'"),
    ("audit p.csv $A --privileged sex=male", "no value of sex 'male'", "'f' and 'm'"),
    ("audit p.csv $A --privileged race=a", "no attribute 'race'", "'sex'"),
    ("audit p.csv $A --privileged sex=f,m", "must be unprivileged"),
    ("audit p.csv $A --sensitive 'se, x'", "no column 'se'", "'sex'"),
    ("audit commas.csv --label y --prediction yhat --sensitive 'sex, given'", """'"sex, given"'"""),
    ("audit p.csv $A --bins skill=0", "'skill' is not one", "add --sensitive skill"),
    ("audit p.csv $A --sensitive race --bins race=1,2", "'race' holds text", "another column"),
    ("audit p.csv $A --sensitive skill --bins skill=low", "ATTRIBUTE=CUT,CUT", "'skill=low'"),
    ("audit p.csv $A --strata department", "no column 'department'", "'race'"),
    ("audit p.csv $A --strata id", "at most 100 values", "'id'"),
    ("audit p.csv --counts --sensitive sex", "y_true, y_pred and n", "'p.csv' has"),
    ("audit p.csv $A --counts --score score", "--score needs rows", "leave it out with --counts"),
    # audit: how it is judged and written
    ("audit p.csv $A --metric acuracy", "no metric 'acuracy'", "did you mean 'accuracy'?"),
    ("audit p.csv $A --threshold 0.1", "METRIC=NUMBER; got '0.1'"),
    ("audit p.csv $A --threshold spd=-1", "must be above 0", "-1.0"),
    ("audit p.csv $A --fail-on fairness", "no metric 'fairness'", "available"),
    ("audit p.csv $A --confidence 95", "between 0 and 1; got 95.0", "0.95 is 95 per cent"),
    ("audit p.csv $A --seed -1", "--seed must be 0 or more; got -1"),
    ("audit p.csv $A --json nowhere/out.json", "folder of 'nowhere/out.json'", "make it first"),
    ("audit p.csv $A --html empty", "'empty' is a folder", "A file must be given"),
    ("audit p.csv $A --json o.md --html o.md", "must be two files", "'o.md'"),
    # benchmark
    ("benchmark germann --sensitive sex", "no dataset 'germann'", "did you mean 'german'?"),
    ("benchmark german --sensitive gender", "no protected attribute 'gender'", "'sex' and 'age'"),
    ("benchmark german", "protected attribute must be named", "--sensitive"),
    ("benchmark p.csv --sensitive sex", "column to predict must be named", "--label"),
    ("benchmark p.csv --label wage --sensitive sex", "numbers: cut it in two", "--label 'wage>"),
    ("benchmark p.csv --label 'wage>abc' --sensitive sex", "COLUMN>NUMBER", "'wage>abc'"),
    ("benchmark p.csv --label 'wage>2000' --sensitive sex", "two classes", "another cut"),
    ("benchmark p.csv --label 'race>2' --sensitive sex", "Only a number can be cut", "'race'"),
    ("benchmark allgood.csv $L", "At least one class must be unfavourable"),
    ("benchmark p.csv $L --method reweighting", "did you mean 'reweighing'?"),
    ("benchmark p.csv $L --method 'reweighing(eta=5)'", "no parameter of reweighing 'eta'"),
    ("benchmark p.csv $L --model randomforest", "no model 'randomforest'", "'rf'"),
    ("benchmark p.csv $L --drop zip", "no column 'zip'", "available"),
    ("benchmark p.csv $L --drop sex", "'sex' is the label or protected", "suppression"),
    ("benchmark p.csv $L --performance spd", "performance metric", "statistical_parity"),
    ("benchmark p.csv $L --fairness accuracy", "compares no groups", "choose one such as"),
    ("benchmark p.csv $L --repeats 0", "'--repeats'", "1"),
    ("benchmark p.csv $L --resamples 5", "50 or more; got 5"),
    ("benchmark p.csv $L --sure 95", "sure must lie between 0 and 1; got 95.0"),
    ("benchmark p.csv $L --backend spark", "no backend 'spark'", "'dask'"),
    ("benchmark p.csv $L --scheduler tcp://x:1", "takes no scheduler", "choose 'dask' or 'ray'"),
    ("benchmark p.csv $L --out p.csv", "must be in a folder", "choose another"),
    ("benchmark p.csv --label y --sensitive id --favorable good", "groups at most", "merge"),
    ("benchmark header.csv --label y --sensitive sex", "'header.csv' holds a header only"),
    ("benchmark german --sensitive sex --label y", "must be left out", "isonomy data info"),
    # tradeoff and tune
    (
        "tradeoff p.csv --label y --sensitive sex",
        "no column 'y_base'",
        "did you mean 'base' (--base)?",
    ),
    ("tradeoff p.csv $B --performance spd", "to maximise or minimise", "goal"),
    ("tradeoff p.csv $B --strategy best", "'best'; available: 'bad' and 'good'"),
    ("tradeoff p.csv $B --rule book", "no rule of regions 'book'; available: 'paper' and 'code'"),
    ("tradeoff p.csv $B --fail-on bad", "must name a region", "got 'bad'"),
    ("tradeoff p.csv $B --drop id", "--drop is for learning", "name a --method"),
    (
        "tradeoff p.csv $L --method reweighing --weight wage",
        "--weight must be left out",
        "--method",
    ),
    (
        "tradeoff p.csv $L --method reweighing --base base --score score",
        "--base and --score must be",
    ),
    ("data info p.csv --label y --sensitive sex", "favourable label must be named", "--favorable"),
    ("data info p.csv.bz2 --label y --sensitive sex", "must end in .parquet, .csv", "'p.csv.bz2'"),
    ("tradeoff p.csv.bz2 $L --method reweighing", "must end in .parquet, .csv", "'p.csv.bz2'"),
    ("benchmark p.csv.bz2 $L", "must end in .parquet, .csv", "'p.csv.bz2'"),
    ("data info germn --label y --sensitive sex", "did you mean 'german'?"),
    ("data info german --label credit --sensitive sex", "--label and --sensitive must be left out"),
    ("tradeoff p.csv $B --score race", "Scores must be numbers", "name another column"),
    ("tradeoff p.csv $L --method reweigh", "did you mean 'reweighing'?"),
    ("tradeoff p.csv $L --method reweighing --model svmm", "did you mean 'svm'?"),
    ("tune prejudice_remover p.csv $L", "At least one parameter", "--param eta=5,25,100"),
    ("tune disparate_impact_remover p.csv $L", "--param repair_level=0.25,0.5,0.75,1."),
    ("tune fair_smote p.csv $L", "At least one parameter", "fair_smote has 'balance'"),
    ("tune fairway p.csv $L --param tune=1,2", "tune must be true or false; got 1"),
    ("audit p.csv $A --metric roc_auc", "roc_auc needs scores; pass --score COLUMN"),
    ("tune reweighing p.csv $L", "reweighing has no parameter of its own; name another method"),
    ("tune reweigh p.csv $L", "did you mean 'reweighing'?"),
    ("tune prejudice_remover p.csv $L --param eta=abc", "eta must be a number; got 'abc'"),
    ("tune prejudice_remover p.csv $L --param eta", "NAME=LOW:HIGH:STEP", "got 'eta'"),
    ("tune prejudice_remover p.csv $L --param eta=10:1:1", "must rise from LOW to HIGH"),
    ("tune prejudice_remover p.csv $L --param et=1,2", "'et'; did you mean 'eta'?"),
    ("tune prejudice_remover p.csv $L --sensitive race --param eta=1", "One protected attribute"),
    ("tune prejudice_remover p.csv $L --param eta=1 --original alpha=1", "'alpha'; available"),
    ("tune prejudice_remover p.csv $L --param eta=1 --objective fair", "'area', a pair of metrics"),
    ("tune prejudice_remover p.csv $L --param eta=1 --strategy best", "no search strategy 'best'"),
    ("tune prejudice_remover p.csv $L --param eta=1 --validation 3", "share between 0 and 1"),
    ("tune prejudice_remover p.csv $L --param eta=1:9 --budget 0", "at least 1; got 0"),
    ("tune prejudice_remover p.csv $L --param eta=1 --cache empty", "'empty' is a folder"),
    # data, metrics and mitigators
    ("data info adlt", "no dataset 'adlt'", "did you mean 'adult'?"),
    ("data info p.csv", "described by --label COLUMN and --sensitive COLUMN"),
    ("data info p.csv --label y --sensitive sex,sex --favorable good", "'sex' plays several"),
    ("data info p.csv $A --weight race", "No such option: --prediction"),
    ("data fetch", "must be named, or --all", "isonomy data fetch adult"),
    ("data export p.csv out.xls $L", "must end in .csv or .parquet", "'out.xls'"),
    ("metrics spdd", "no metric 'spdd'", "did you mean 'spd'?"),
    ("mitigators reweighting", "no mitigator 'reweighting'", "did you mean 'reweighing'?"),
    # study
    ("study run chen_2023", "no study 'chen_2023'", "did you mean 'chen_2022'?"),
    ("study run nowhere.toml", "no file 'nowhere.toml'"),
    ("study run syntax.toml", "must be valid TOML"),
    ("study run nameless.toml", "must have the entry 'name'", "it has 'tasks'"),
    ("study run typo.toml", "no entry of a study 'repeat'", "did you mean 'repeats'?"),
    ("study run nomodel.toml", "no model 'nbb'", "did you mean 'nb'?"),
    ("study run nodata.toml", "no dataset 'synthetik'", "did you mean 'synthetic'?"),
    ("study run attribute.toml", "no protected attribute of synthetic 'sex'", "'group'"),
    ("study run notask.toml", "written dataset/attribute", "got"),
    ("study run negative.toml", "at least 1; got -2"),
    ("study run word.toml", "repeats must be a whole number", "got 'two'"),
    ("study run place.toml", "must be the name of a folder", "'../../x'"),
    ("study run nomethod.toml", "did you mean 'unmitigated'?"),
    ("study run parameter.toml", "'metrc'; did you mean 'metric'?"),
    ("study run mine.toml --task adult", "no task 'adult'", "'synthetic(n=200)/group'"),
    ("study run mine.toml --protocol published", "did you mean 'as_published'?"),
    ("study run mine.toml --memory-limit lots", "written 800M or 4G; got 'lots'"),
    ("study run mine.toml --time-limit 0", "time limit must be above 0"),
    ("study run mine.toml --out .", "new or empty folder", "choose another"),
    (
        "study status nothing",
        "There is no run at 'nothing' or 'out/nothing'",
        "isonomy study run STUDY --out nothing",
    ),
    (
        "study tables chen_2022",
        "no run at 'chen_2022' or 'out/chen_2022'",
        "isonomy study run chen_2022.",
    ),
    ("study compare chen", "or 'out/chen_2022'", "make it with isonomy study run chen."),
    ("study query mine 'from runs' --out empty", "'empty' is no store", "name the folder"),
    ("study export mine r.csv --out no", "no run at 'no'", "isonomy study run STUDY --out no"),
    ("study resume empty", "'empty' is no store", "name the folder"),
    ("study verify nothing", "no run at 'nothing'", "name its folder with --out"),
    ("study query mine 'select * form runs'", "A query must be SQL on the views", "DuckDB says"),
    ("study query mine 'drop view runs'", "must be one SELECT", "got 'DROP'"),
    ("study export mine runs.xls", ".parquet or .csv", "'runs.xls'"),
    ("study export mine runs.csv --view run", "no view 'run'", "did you mean 'runs'?"),
    ("study score mine roc_auc", "must be a function of counts", "a new run measures it"),
    ("study merge mine mine", "'out/mine' is this one", "name another"),
    ("study merge new mine mine", "name that one first, or copy it (cp -r mine new)"),
    ("study merge mine elsewhere", "'elsewhere'", "folders of runs of the same study"),
    ("study tables mine", "belong to a paper's study", "isonomy study query"),
    ("published chn empty", "no paper 'chn'", "did you mean 'chen'?"),
    ("published chen empty", "it holds none", "name the root of the authors' repository"),
    ("published chen empty --table 99", "no table '99'", "'table2'"),
    # tail
    ("tail model.pkl --sensitive male", "MODEL and DATA must be given; got 1"),
    ("tail model.pkl m.csv --sensitive male", "is a pickle", "pass --trust"),
    ("tail no.pkl $T", "none at 'no.pkl'", "must exist"),
    ("tail bad.pkl $T", "'bad.pkl' cannot be loaded"),
    ("tail list.pkl $T", "must have predict_proba", "list has none"),
    ("tail unfitted.pkl $T", "is not fitted yet", "must be able to score"),
    ("tail model.pkl m.csv --sensitive race --trust", "fitted without 'race'"),
    ("tail model.pkl p.csv --sensitive sex --trust", "every column that the model was fitted on"),
    ("tail model.pkl $T --k many", "--k must be a number or auto; got 'many'"),
    ("tail model.pkl $T --horizon 0", "from 2 on; got [0]"),
    ("tail model.pkl $T --group male=2", "no group '2'", "'0' and '1'"),
    ("tail model.pkl $T --companion x", "COLUMN:GROUP:OLD=NEW; got 'x'"),
    ("tail model.pkl $T --generator gan", "did you mean 'ctgan'?"),
    ("tail model.pkl $T --together male,skill", "other columns", "use --companion"),
    ("tail m.csv --sensitive male --command nosuchprogram", "program", "was not found"),
    ("tail m.csv --sensitive male --command cat", "must print numbers", "it printed"),
    ("tail m.csv --sensitive male --callable math", "written module:function; got 'math'"),
    ("tail m.csv --sensitive male --callable math:nofun", "must have 'nofun'"),
    # a study's own files
    ("study run mien.toml", "no file 'mien.toml'", "did you mean 'mine.toml'?"),
    ("study run seed.toml --backend serial", "under another one", "--out out/mine-2."),
    ("study run mine", "no study 'mine'", "did you mean the file 'mine.toml'?"),
    ("study run source.toml --task peple/sex", "no dataset 'peple'", "did you mean 'people'?"),
    # audit-models
    ("audit-models empty p.csv $L", "'empty' is empty", "must hold files"),
    ("audit-models nowhere p.csv $L", "none at 'nowhere'", "must exist"),
    ("audit-models models.toml p.csv --sensitive sex", "--label must name the column"),
    ("audit-models wrongmodels.toml p.csv $L", "no model 'rff'", "did you mean 'rf'?"),
    ("audit-models mine.toml p.csv $L", "no entry of mine.toml 'name'", "'models'"),
    ("audit-models models.toml p.csv $L --train 5", "between 0 and 1; got 5.0"),
    ("audit-models models.toml p.csv $L --fairness accuracy", "group metric", "got accuracy"),
    ("audit-models p.csv p.csv $L", "must end in .pkl", "'p.csv'"),
]

Y = np.array([0, 1] * 30)
S = np.array(["a", "a", "b", "b"] * 15)
X = np.column_stack([np.arange(60.0), Y + 0.5 * (S == "a")])
MANY = np.arange(120) + 0.5
FRAME = pd.DataFrame({"x": X[:, 0], "sex": S, "y": Y})
T = np.array(["a", "a", "b", "c"] * 15)
LISTS = pd.DataFrame({"x": X[:, 0], "tags": [["p"], ["q", "r"]] * 30})


def ours(data: Any = FRAME, **options: Any) -> Any:
    """Start a benchmark of this table, with a mistake in the options."""
    named = {"label": "y", "sensitive_features": "sex", "methods": "reweighing", "repeats": 2}
    return iso.benchmark(data, **{**named, "backend": "serial", **options})


CALLS: list[tuple[Callable[[], Any], *tuple[str, ...]]] = [
    (lambda: iso.audit(Y, Y[:-1], sensitive_features=S), "same number of rows", "59"),
    (lambda: iso.audit(Y, Y, sensitive_features=S[:5]), "same number of rows", "5"),
    (lambda: iso.audit([], [], sensitive_features=[]), "at least one row"),
    (lambda: iso.audit(Y, Y, sensitive_features=S, privileged="c"), "'c'", "'a' and 'b'"),
    (lambda: iso.audit(Y, Y, sensitive_features=S, favorable=2), "no favourable label 2"),
    (lambda: iso.audit(Y, Y, sensitive_features=S, score=["x"] * 60), "Scores must be numbers"),
    (lambda: iso.audit(Y, Y, sensitive_features=S, score=np.full(60, np.nan)), "finite numbers"),
    (
        lambda: iso.audit(Y, Y, sensitive_features=S, score=np.full((60, 2), 0.5)),
        "one column, those of the favourable label",
        "list(classes_).index(",
    ),
    (lambda: iso.audit(Y, X[:, 0], sensitive_features=S), "Predictions must be labels"),
    (lambda: iso.audit(Y, Y, sensitive_features=S, sample_weight=-X[:, 0]), "not be negative"),
    (lambda: iso.audit(Y, Y, sensitive_features=S, metrics=["acc"]), "no metric 'acc'"),
    (lambda: iso.get_metric("demographic parity"), "no metric 'demographic parity'"),
    (lambda: iso.benchmark(FRAME, sensitive_features="gender", label="y"), "no column 'gender'"),
    (lambda: iso.load("adlt"), "did you mean 'adult'?"),
    (lambda: iso.load("synthetic", rows=10), "rows"),
    (lambda: iso.Dataset.from_frame(FRAME, label="z", sensitive_features="sex"), "no column 'z'"),
    (lambda: iso.make_mitigator("reweigh"), "did you mean 'reweighing'?"),
    (lambda: iso.make_mitigator("reweighing", eta=3), "no parameter of reweighing 'eta'"),
    (lambda: iso.make_model("forest"), "no model 'forest'", "'rf'"),
    (lambda: Reweighing().fit(X, Y), "sensitive_features"),
    (lambda: Reweighing().fit(X, Y[:-1], sensitive_features=S), "same number of rows"),
    (lambda: Reweighing().fit(X, Y, sensitive_features=S[:-1]), "same number of rows"),
    (lambda: Reweighing().fit(X, np.zeros(60), sensitive_features=S), "two classes"),
    (lambda: Reweighing().fit(X, Y, sensitive_features=["a"] * 60), "two groups"),
    (lambda: Reweighing(LinearRegression()).fit(X, Y, sensitive_features=S), "needs a classifier"),
    (lambda: Reweighing(protocol="mine").fit(X, Y, sensitive_features=S), "no protocol 'mine'"),
    (lambda: Reweighing(privileged="c").fit(X, Y, sensitive_features=S), "'c'", "'a' and 'b'"),
    (lambda: EqualizedOdds().fit(X, Y, sensitive_features=S).predict(X), "sensitive_features"),
    (lambda: ExponentiatedGradient(constraint="fair").fit(X, Y, sensitive_features=S), "'fair'"),
    (lambda: Reweighing(KMeans(2)).fit(X, Y, sensitive_features=S), "KMeans", "from no labels"),
    (lambda: Reweighing(StandardScaler()).fit(X, Y, sensitive_features=S), "predicts no labels"),
    (
        lambda: Reweighing(LogisticRegression).fit(X, Y, sensitive_features=S),
        "LogisticRegression()",
    ),
    (lambda: Reweighing(42).fit(X, Y, sensitive_features=S), "got int", "a classifier"),
    (
        lambda: Reweighing().fit(FRAME, Y, sensitive_features=["sex"]),
        "names of columns",
        "X[['sex']]",
    ),
    (lambda: Reweighing().fit(X, None, sensitive_features=S), "for every row; got None"),
    (lambda: Reweighing().fit(X, "y", sensitive_features=S), "for every row; got 'y'"),
    (
        lambda: Reweighing().fit(X, Y, sensitive_features=S, sample_weight="x"),
        "sample_weight",
        "'x'",
    ),
    (lambda: Reweighing().fit(X, X[:, 0] + 0.5, sensitive_features=S), "hold classes", "y > 30.5"),
    (
        lambda: Reweighing().fit(MANY[:, None], MANY > 9, sensitive_features=MANY),
        "has 120 numbers",
        "pd.cut(values, [-np.inf, 30.5,",
    ),
    (lambda: Reweighing().fit(None, Y, sensitive_features=S), "rows and columns; got None"),
    (lambda: Reweighing().fit({"x": [1]}, Y, sensitive_features=S), "got a dict"),
    (lambda: Reweighing().fit(FRAME["x"], Y, sensitive_features=S), "one column or row"),
    (lambda: Reweighing().fit([[1], [1, 2]], Y, sensitive_features=S), "different lengths"),
    (lambda: Reweighing().fit(X, Y, sensitive_features=S).predict(X[:0]), "must have rows"),
    (
        lambda: Reweighing(privileged={"sex": "a"}).fit(X, Y, sensitive_features=S),
        "'sex'",
        "no names",
    ),
    (lambda: Reweighing(favorable="yes").fit(X, Y, sensitive_features=S), "the positions"),
    (
        lambda: ExponentiatedGradient(eps=-1).fit(X, Y, sensitive_features=S),
        "eps must be at least 0",
    ),
    (lambda: GridSearch(grid_size=0).fit(X, Y, sensitive_features=S), "grid_size", "at least 2"),
    (lambda: iso.audit(Y, Y, sensitive_features=None), "for every row; got None"),
    (lambda: iso.judge(Y, Y[:3], Y, sensitive_features=S), "y_base and y_true", "3"),
    (lambda: iso.judge(Y, 0 * Y, Y, sensitive_features=S), "two classes", "alike"),
    (lambda: iso.judge(Y, np.where(Y, "a", "b"), Y, sensitive_features=S), "got 'a' and 'b'"),
    (
        lambda: iso.judge(Y, 1 - Y, Y, sensitive_features=S, rule="book"),
        "no rule of regions 'book'",
    ),
    (lambda: iso.judge(Y, 1 - Y, Y, sensitive_features=S, frontier=3), "frontier", "got 3"),
    (
        lambda: post_processing_frontier(
            Y, X[:, 0], sensitive_features=S, privileged="a", fit=(Y,)
        ),
        "got 1 of the three",
    ),
    (
        lambda: iso.tail(lambda x: np.c_[x["x"], x["x"]], FRAME, "sex", favorable="b"),
        "one column",
        "'b'",
    ),
    (lambda: Reweighing().fit(LISTS, Y, sensitive_features=S), "'tags'", "holds a list"),
    (lambda: Reweighing().fit(LISTS.to_numpy(), Y, sensitive_features=S), "column 1 holds a list"),
    (lambda: Reweighing().fit(X, Y, sensitive_features=S[:5]), "sensitive_features has 5 and X"),
    (
        lambda: Reweighing(privileged="a").fit(X, Y * (S == "a"), sensitive_features=T),
        "groups 'b' and 'c' lack one",
    ),
    (
        lambda: Reweighing(random_state=[1]).fit(X, Y, sensitive_features=S),
        "random_state",
        "got [1]",
    ),
    (lambda: RejectOption(bounds=(0.2, -0.2)).fit(X, Y, sensitive_features=S), "in this order"),
    (lambda: iso.judge(Y, None, Y, sensitive_features=S), "y_base", "for every row; got None"),
    (lambda: iso.audit(Y, "p", sensitive_features=S), "y_pred", "got 'p'", "X['p']"),
    (lambda: ours(data=X), "with named columns", "a ndarray", "pd.DataFrame(array"),
    (lambda: ours(data=LISTS.assign(sex=S, y=Y)), "'tags' holds a list", "--drop"),
    (lambda: ours(sensitive_features="x", bins="young"), "The bins of 'x' must be numbers"),
    (lambda: ours(sensitive_features=["sex", "x"], bins=[25, 60]), "bins={'sex': ...}"),
    (lambda: ours(folder=3), "folder must be a path", "got 3"),
    (lambda: ours(label=FRAME["y"]), "the name of a column; got a Series", "'y'"),
    (lambda: ours(sensitive_features=FRAME["sex"]), "names of columns; got a Series", "'sex'"),
    (
        lambda: ours(sensitive_features=S),
        "got a ndarray of 60 values",
        "into the table as a column",
    ),
    (lambda: ours(sensitive_features=S.tolist()), "got a list of 60 values", "pass the name"),
    (lambda: ours(sensitive_features=FRAME[["sex"]].to_numpy()), "got a ndarray of 60 values"),
    (lambda: ours(drop=S), "drop must be names of columns; got a ndarray of 60 values"),
    (lambda: ours(drop="year"), "no column 'year'"),
    (lambda: ours(models=LogisticRegression), "the class LogisticRegression: pass an object"),
    (lambda: ours(random_state=[1]), "random_state", "a whole number", "got [1]"),
    (lambda: iso.power(-0.1, base_rate=0.5, groups={"a": 0.7}), "shares", "got a dict"),
    (lambda: iso.power(-0.1, base_rate=0.5, groups=3), "shares of two groups", "got 3"),
    (lambda: iso.power(-0.1, base_rate="half"), "base_rate must lie between 0 and 1"),
    (lambda: iso.power("x", base_rate=0.5), "gap must be a number; got 'x'"),
    (lambda: check_mitigator("reweighing"), "such as Reweighing(); got 'reweighing'"),
    (lambda: DATASETS.register("mine")(people), "what it holds", "got a function"),
    (lambda: Study("s", ["german"], ["lr"], ["unmitigated"]), "written dataset/attribute"),
    (lambda: Study("s", ["german/sex"], [], ["unmitigated"]), "must have models"),
    (lambda: iso.load_study("chen_2021"), "did you mean 'chen_2022'?"),
    (lambda: iso.Store.open("nowhere"), "'nowhere' does not exist"),
]


def one_sentence(text: str, words: tuple[str, ...]) -> None:
    assert text.count("\n") == 0
    assert "Traceback" not in text
    assert text[0].isupper() or text[0] in "'-" or text.split()[0].isidentifier()
    for word in words:
        assert word in text


@pytest.mark.parametrize(("line", *("words",)), [(c[0], c[1:]) for c in COMMANDS])
def test_commands(folder: Path, line: str, words: tuple[str, ...]) -> None:
    for short, options in OPTIONS.items():
        line = line.replace(short, options)
    done = isonomy(*shlex.split(line), cwd=folder)
    assert done.returncode == 2, done.stderr
    # where the machine is busy, a command says before that how far it is
    said = re.sub(r"^.* so far\n", "", done.stderr, flags=re.MULTILINE)
    start, sentence = said[: len("isonomy: ")], said[len("isonomy: ") : -1]
    assert start == "isonomy: "
    one_sentence(sentence, words)
    # on the command line there are options, and no parameters or values of Python
    python = (
        r"=(None|True|False)\b|_features|\bnp\.|InputError|\b\w+= |=\S* \(--|\b(None|True|False)\b"
    )
    assert not re.search(python, sentence), sentence


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_calls(number: int) -> None:
    call, *words = CALLS[number]
    with pytest.raises(IsonomyError) as caught:
        call()
    one_sentence(str(caught.value), tuple(words))


def test_they_are_a_hundred() -> None:
    assert len({line for line, *_ in COMMANDS}) + len(CALLS) >= 100
    assert len({line for line, *_ in COMMANDS}) == len(COMMANDS)
