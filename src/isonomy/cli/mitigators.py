"""``isonomy mitigators``: what can be done about a disparity, and what each method needs."""

import inspect
from typing import Any

import typer

from isonomy.cli.options import Json, Quiet
from isonomy.cli.output import console, write_json

STAGES = {
    "pre": "before training: the data are changed",
    "in": "in training: the model is constrained",
    "post": "after training: the predictions are changed",
    "ensemble": "several models together",
}


def mitigators_command(
    name: str | None = typer.Argument(None, help="A method to explain; all are listed without."),
    json_file: Json = None,
    quiet: Quiet = False,
) -> None:
    """List the mitigation methods by stage, or explain one."""
    from rich.table import Table

    from isonomy.cli.docstring import show
    from isonomy.mitigators import MITIGATORS

    chosen = [MITIGATORS[name]] if name else list(MITIGATORS.values())
    screen = console()
    write_json(json_file, {"mitigators": [describe(m) for m in chosen]})
    if name:
        facts = describe(chosen[0])
        table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
        table.add_column(style="bold", no_wrap=True)
        table.add_column()
        for key, fact in facts.items():
            if isinstance(fact, str):
                table.add_row(key, fact)
        table.add_row("parameters", ", ".join(f"{k}={v}" for k, v in facts["parameters"].items()))
        screen.print(table)
        screen.print()
        show(screen, inspect.cleandoc(chosen[0].__doc__ or ""))
        return
    for stage, words in STAGES.items():
        methods = sorted((m for m in chosen if m.stage == stage), key=lambda m: m.name)
        if not methods:
            continue
        table = Table(title=words, title_justify="left", box=None, padding=(0, 2, 0, 0))
        table.add_column("method, and when it serves", ratio=1)
        table.add_column("attribute needed", no_wrap=True)
        table.add_column("groups", no_wrap=True)
        for method in methods:
            facts = describe(method)
            table.add_row(
                f"[bold]{facts['name']}[/bold] ({facts['label']})\n{facts['advice']}",
                "fit and predict" if method.needs_sensitive_at_predict else "fit",
                "any" if method.multi_group else "two",
            )
        screen.print(table)
        screen.print()
    screen.print(
        "Explain one: isonomy mitigators NAME. Which to choose: docs/guide/4-mitigation.md"
    )


def describe(method: Any) -> dict[str, Any]:
    """Return what a method says about itself."""
    needs = ["the protected attribute to fit"]
    if method.needs_sensitive_at_predict:
        needs = ["the protected attribute to fit and to predict"]
    if method.stage == "post":
        needs.append("a model with scores" if method.needs_scores else "a model, or its labels")
    elif method.uses_estimator:
        needs.append("any learner")
    if method.name == "reweighing":
        needs[-1] = "a learner that takes weights"
    return {
        "name": method.name,
        "label": method.label,
        "stage": method.stage,
        "needs": "; ".join(needs),
        "groups": "any number" if method.multi_group else "privileged against the rest",
        "several attributes": method.with_several(),
        "classes": "any number"
        if method.multi_class
        else "any number, one against the rest"
        if method.one_against_rest
        else "two",
        "aims": ", ".join(method.aims).replace("_", " ") or "another goal than gaps between groups",
        "strength": ", ".join(method.strength_values) or "none to tune",
        "needs_sensitive_at_predict": method.needs_sensitive_at_predict,
        "randomized": method.randomized,
        "advice": method.advice,
        "reference": method.reference,
        "parameters": {
            key: repr(p.default)
            for key, p in inspect.signature(method.__init__).parameters.items()
            if key != "self"
        },
    }
