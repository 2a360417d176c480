"""Write a paper's findings into a page, from stored runs: `python tools/findings.py FOLDER PAGE`.

    isonomy study run biswas_2020
    isonomy study run biswas_2020_corrected
    python tools/findings.py out/biswas_2020 docs/how-to/forty-models.md --published DIR

The studies of the same paper are read from the folders beside FOLDER, and the findings replace what
stands between the markers of the study in PAGE.
"""

import argparse
from pathlib import Path

from isonomy.cli.study_tables import other_studies, write_part
from isonomy.papers import paper_of, read_published
from isonomy.papers.compare import compare, compare_with_print
from isonomy.store import Store


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("page")
    parser.add_argument("--published", help="the authors' files")
    asked = parser.parse_args()
    store = Store.open(asked.folder)
    paper = paper_of(store.name)
    ours, beside = paper.frame_of(store), other_studies(paper, store)
    if asked.published:
        published = read_published(paper.name, asked.published)
        found = compare(ours, published, paper.name, beside=beside).findings
    else:
        found = compare_with_print(ours, paper.name, beside=beside).findings
    assert found is not None
    lines = []
    for finding, said in found.text().iterrows():
        lines += [f"### {finding}", ""]
        for side, words in said.items():
            lines.append(
                f"- *{side}*: `{words}`" if side == "to see it" else f"- *{side}*: {words}"
            )
        lines.append("")
    lines += [f"{note}\n" for note in found.notes]
    write_part(asked.page, store.name, "\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
