"""Train a model and write predictions.csv: people it has not seen, their labels, its decisions.

Run ``python predict.py unmitigated`` or another method of ``isonomy mitigators``, and the number
of people to predict.
"""

import sys

from isonomy import load, make_mitigator, make_model

name = sys.argv[1] if len(sys.argv) > 1 else "unmitigated"
people = int(sys.argv[2]) if len(sys.argv) > 2 else 4_000
data = load("synthetic", n=8_000)
train, test = data.take(range(4_000)), data.take(range(4_000, 4_000 + people))
model = make_mitigator(name, estimator=make_model("nb"), privileged="privileged")
model.fit(train.X, train.y, sensitive_features=train.sensitive["group"])
predicted = model.predict(test.X, sensitive_features=test.sensitive["group"])
table = test.X.assign(hired=test.y, predicted=predicted)
table.to_csv("predictions.csv", index=False)
