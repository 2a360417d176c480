"""Check a built site: `python docs/check.py docs/_build/html`.

Nothing is asked for outside of it when it is read, and every link inside it leads somewhere. Links to
other sites are listed (`--external`), not fetched.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# what a browser fetches by itself, by tag and attribute
FETCHED = {
    ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src"),
    ("audio", "src"), ("embed", "src"), ("object", "data"), ("link", "href"), ("use", "href"),
}  # fmt: skip
NOT_FETCHED = {"canonical", "next", "prev", "search", "index", "author", "license"}


class Page(HTMLParser):
    """What a page fetches, links to, and can be linked at."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.fetched: set[str] = set()
        self.links: set[str] = set()
        self.targets: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses of a tag."""
        given = {name: value or "" for name, value in attrs}
        self.targets |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        if tag == "link" and NOT_FETCHED & set(given.get("rel", "").split()):
            return
        self.fetched |= {given[name] for t, name in FETCHED if t == tag and given.get(name)}


def html_of(site: Path) -> list[Path]:
    """Return the pages of a site; what themes keep under _static are not pages."""
    return sorted(f for f in site.rglob("*.html") if "_static" not in f.relative_to(site).parts)


def problems(site: Path) -> tuple[list[str], set[str]]:
    """Return what is wrong with a site, and the links that leave it."""
    pages = {file.resolve(): Page(file) for file in html_of(site)}
    wrong, external = [], set()
    for file, page in pages.items():
        here = file.relative_to(site.resolve())
        wrong += [f"{here} fetches {a}" for a in page.fetched if urlsplit(a).netloc]
        for address in page.links | {a for a in page.fetched if not urlsplit(a).netloc}:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                if parts.scheme in {"http", "https"}:
                    external.add(address)
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if target.is_dir():
                target /= "index.html"
            found = pages.get(target)
            if found is None and not target.exists():
                wrong.append(f"{here} links to {address}, which is not there")
            elif found and parts.fragment and unquote(parts.fragment) not in found.targets:
                wrong.append(f"{here} links to {address}, which has no such place")
    for file in site.rglob("*.css"):
        text = file.read_text(encoding="utf-8")
        for mark in ("url(http", "url(//", 'url("http', "url('http", "@import url(http"):
            if mark in text:
                wrong.append(f"{file.relative_to(site)} fetches from another site ({mark})")
    return wrong, external


def main() -> None:
    """Print what is wrong, and end with 1 if something is."""
    site = Path(sys.argv[1])
    wrong, external = problems(site)
    if "--external" in sys.argv:
        print("\n".join(sorted(external)))
    print("\n".join(sorted(wrong)))
    pages = len(html_of(site))
    print(f"{site}: {pages} pages, {len(wrong)} problems, {len(external)} links to other sites")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
