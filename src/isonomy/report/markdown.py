"""The Markdown face: the same words and numbers as the page; charts by what they show."""

import re
from collections.abc import Iterator
from typing import Any

from isonomy._shown import FACES, Summary

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_BREAKS = re.compile(r"[\r\n\u2028\u2029]+")


@FACES.register("markdown")
def to_markdown(summary: Summary) -> str:
    r"""Return a summary as Markdown (GitHub's, for its tables).

    Examples
    --------
    >>> from isonomy.report import blocks as b
    >>> made = b.summary("demo", "A <demo>", verdict=b.verdict("", "Nothing to see."))
    >>> print(to_markdown(made).splitlines()[0])
    # A \<demo\>
    """
    verdict = summary["verdict"]
    lines = [f"# {_text(summary['title'])}", f"**{_text(verdict['headline'])}**"]
    lines += [_text(sentence) for sentence in verdict["sentences"]]
    if verdict["tiles"]:
        lines.append(
            "\n".join(f"- {_text(t['label'])}: **{_text(t['value'])}**" for t in verdict["tiles"])
        )
    for part in summary["parts"]:
        lines.append(f"## {_text(part['heading'])}")
        for block in part["blocks"]:
            lines += _block(block)
    return "\n\n".join(lines) + "\n"


def _text(words: str) -> str:
    """Write words so that nothing in them is a mark."""
    return _SPECIAL.sub(r"\\\1", _BREAKS.sub(" ", str(words)))


def _block(block: dict[str, Any]) -> Iterator[str]:
    kind = block["type"]
    if kind == "heading":
        yield f"### {_text(block['text'])}"
    elif kind in ("text", "soft"):
        yield _text(block["text"])
    elif kind == "note":
        yield f"> {_text(block['text'])}"
    elif kind == "items":
        yield "\n".join(f"- {_text(item)}" for item in block["items"])
    elif kind == "facts":
        yield "\n".join(f"- {_text(name)}: {_text(said)}" for name, said in block["rows"])
    elif kind == "code":
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", block["text"])), 0)
        yield f"{fence}\n{block['text']}\n{fence}"
    elif kind == "blank":
        yield f"**{_text(block['label'])}** (to be filled in by a person): \\_\\_\\_\\_ {_text(block['hint'])}"
    elif kind == "more":
        yield f"**{_text(block['label'])}**"
        for inner in block["blocks"]:
            yield from _block(inner)
    elif kind == "table":
        yield from _table(block)
    else:
        yield f"**{_text(block['title'])}.** {_text(block['alt'])}"
        if block["note"]:
            yield _text(block["note"])
        if block["numbers"]:
            yield from _table(block["numbers"], captioned=False)


def _table(table: dict[str, Any], *, captioned: bool = True) -> Iterator[str]:
    if captioned:
        yield f"**{_text(table['caption'])}**"
    heads = [_text(column["label"]) or " " for column in table["columns"]]
    rules = ["---:" if column["align"] == "right" else "---" for column in table["columns"]]
    rows = [[_cell(cell) for cell in row] for row in table["rows"]]
    yield "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rules, *rows))
    if table["note"]:
        yield _text(table["note"])


def _cell(cell: dict[str, Any]) -> str:
    small = f" ({_text(cell['small'])})" if cell.get("small") else ""
    return f"{_text(cell['text'])}{small}" or " "
