"""The Markdown face: the same words and numbers as the page; charts by what they show."""

import re
from collections.abc import Iterator
from typing import Any

from isonomy._markdown import escaped, table
from isonomy._shown import FACES, Summary


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
    lines = [f"# {escaped(summary['title'])}", f"**{escaped(verdict['headline'])}**"]
    lines += [escaped(sentence) for sentence in verdict["sentences"]]
    if verdict["tiles"]:
        lines.append(
            "\n".join(
                f"- {escaped(t['label'])}: **{escaped(t['value'])}**" for t in verdict["tiles"]
            )
        )
    for part in summary["parts"]:
        lines.append(f"## {escaped(part['heading'])}")
        for block in part["blocks"]:
            lines += _block(block)
    return "\n\n".join(lines) + "\n"


def _block(block: dict[str, Any]) -> Iterator[str]:
    kind = block["type"]
    if kind == "heading":
        yield f"### {escaped(block['text'])}"
    elif kind in ("text", "soft"):
        yield escaped(block["text"])
    elif kind == "note":
        yield f"> {escaped(block['text'])}"
    elif kind == "items":
        yield "\n".join(f"- {escaped(item)}" for item in block["items"])
    elif kind == "facts":
        yield "\n".join(f"- {escaped(name)}: {escaped(said)}" for name, said in block["rows"])
    elif kind == "code":
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", block["text"])), 0)
        yield f"{fence}\n{block['text']}\n{fence}"
    elif kind == "blank":
        yield f"**{escaped(block['label'])}** (to be filled in by a person): \\_\\_\\_\\_ {escaped(block['hint'])}"
    elif kind == "more":
        yield f"**{escaped(block['label'])}**"
        for inner in block["blocks"]:
            yield from _block(inner)
    elif kind == "table":
        yield from _table(block)
    else:
        yield f"**{escaped(block['title'])}.** {escaped(block['alt'])}"
        if block["note"]:
            yield escaped(block["note"])
        if block["numbers"]:
            yield from _table(block["numbers"], captioned=False)


def _table(made: dict[str, Any], *, captioned: bool = True) -> Iterator[str]:
    if captioned:
        yield f"**{escaped(made['caption'])}**"
    heads = [escaped(column["label"]) or " " for column in made["columns"]]
    align = [column["align"][:1] for column in made["columns"]]
    yield table(heads, align, [[_cell(cell) for cell in row] for row in made["rows"]])
    if made["note"]:
        yield escaped(made["note"])


def _cell(cell: dict[str, Any]) -> str:
    small = f" ({escaped(cell['small'])})" if cell.get("small") else ""
    return f"{escaped(cell['text'])}{small}" or " "
