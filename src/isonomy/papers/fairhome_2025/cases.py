"""What the tables of the FairHOME study are made of: its names."""

from isonomy.papers.subgroups import AVERAGE, PERFORMANCE, WORST

DATASETS: dict[str, str] = {
    "adult": "adult",
    "compas_new": "compas",
    "default": "default_credit",
    "german": "german",
    "mep1": "meps",
    "mep2": "meps(panel=21)",
}
"""The six datasets by the paper's label."""

ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "adult": ("sex", "race"),
    "compas": ("sex", "race", "age"),
    "default_credit": ("sex", "age"),
    "german": ("sex", "age"),
    "meps": ("sex", "race"),
    "meps(panel=21)": ("sex", "race"),
}
"""The protected attributes of each dataset, all considered at once."""

METHODS: dict[str, str] = {
    "rew": "reweighing",
    "adv": "adversarial_debiasing",
    "eop": "equalized_odds",
    "fairsmote": "fair_smote",
    "maat": "maat",
    "fairmask": "fair_mask",
    "gry": "gerry_fair",
    "fairhome": "fairhome",
}
"""The methods by the paper's label."""

OWN_MODEL = (METHODS["adv"], METHODS["gry"])
"""They bring their own model: one set of runs is counted beside every model."""

MODELS: tuple[str, ...] = ("lr", "rf", "svm", "dl")
"""The four base models."""

RUNS = 20
"""How often the study ran everything."""

BIAS: dict[str, str] = WORST | AVERAGE
"""The six measures of intersectional bias by the paper's label."""

METRICS: dict[str, str] = BIAS | PERFORMANCE
"""All that the tables show, in the paper's order."""
