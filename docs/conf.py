"""How Sphinx builds the documentation: `make docs`."""

import contextlib
import importlib
import os
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))
os.environ.setdefault("MPLBACKEND", "agg")

import generate  # noqa: E402 - beside this file
import latex2mathml.converter  # noqa: E402 - after the folder of this file is known
from docutils.nodes import SkipNode  # noqa: E402

import isonomy  # noqa: E402

project = "Isonomy"
author = "The Isonomy maintainers"
copyright = author  # noqa: A001 - Sphinx's name
release = version = isonomy.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
root_doc = "index"
exclude_patterns = ["_build", "_templates", "**/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
nitpicky = True

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

autodoc_typehints = "none"  # numpydoc's sections say the types, in words
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_inherit_docstrings = True
numpydoc_show_class_members = False
viewcode_follow_imported_members = True
viewcode_line_numbers = True

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery", "../examples/cases"],
    "gallery_dirs": ["gallery", "cases"],
    "filename_pattern": "plot_",
    "within_subsection_order": "generate.ExampleOrder",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "reset_modules": ("matplotlib",),
}

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
toc_object_entries_show_parents = "hide"
# Pages without others beneath them have nothing to show to the left.
html_sidebars = {page: [] for page in ("start", "words", "compare", "what-we-found", "changelog")}
html_title = "Isonomy"
html_static_path = ["_static"]
html_css_files = ["isonomy.css"]
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "Isonomy"},
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "compare": []},
    "footer_start": ["version-of-isonomy"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# Pages that lie outside of docs/, where a repository's reader looks for them.
OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "GOVERNANCE.md": "governance.md",
    "benchmarks/README.md": "speed.md",
    "benchmarks/fidelity.md": "papers/fidelity.md",
    "results/README.md": "papers/results.md",
}
LINK = re.compile(r"\]\(([^)\s#:]+)(#[^)\s]*)?\)")


def on_the_site(text: str, source: Path, page: Path) -> str:
    """Turn the relative links of a Markdown file into links between pages of the site."""

    def link(found: re.Match[str]) -> str:
        target = (source.parent / found[1]).resolve()
        inside = str(target.relative_to(ROOT)) if target.is_relative_to(ROOT) else ""
        example = re.fullmatch(r"examples/(gallery|cases)/(plot_\w+)\.py", inside)
        if example:
            target = HERE / example[1] / f"{example[2]}.rst"
        elif inside in OUTSIDE:
            target = HERE / OUTSIDE[inside]
        elif target.is_dir():
            target /= "index.md"
        return f"]({os.path.relpath(target, page.parent)}{found[2] or ''})"

    return LINK.sub(link, text)


def read_page(app: Any, docname: str, source: list[str]) -> None:
    """Mend the links of a page of docs/."""
    file = Path(app.env.doc2path(docname))
    if file.suffix == ".md":
        source[0] = on_the_site(source[0], file, file)


def read_include(app: Any, path: Path, parent: str, source: list[str]) -> None:
    """Mend the links of a file that a page includes."""
    page = Path(app.env.doc2path(app.env.docname))
    source[0] = on_the_site(source[0], (HERE / path).resolve(), page)


def resolve(app: Any, env: Any, node: Any, words: Any) -> Any:
    """Link a name of Python to the room that shows it; what exists but is not public stays text."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"].lstrip(".~")
    for base in ("", "isonomy.", *(f"{room}." for room in generate.ROOMS)):
        with contextlib.suppress(ImportError, AttributeError):
            return _link(app, env, node, words, _thing(base + target))
    own = [name for name in sys.modules if name.startswith("isonomy.")]
    return words if any(_has(sys.modules[name], target) for name in own) else None


def _thing(dotted: str) -> Any:
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        with contextlib.suppress(ModuleNotFoundError):
            thing: Any = importlib.import_module(".".join(parts[:cut]))
            for name in parts[cut:]:
                thing = getattr(thing, name)
            return thing
    raise ImportError(dotted)


def _has(module: Any, dotted: str) -> bool:
    names = [module, *vars(module).values()]
    return any(
        hasattr(thing, dotted) for thing in names if isinstance(thing, type) or thing is module
    )


def _link(app: Any, env: Any, node: Any, words: Any, thing: Any) -> Any:
    for names in generate.public().values():
        for full in names.values():
            if _thing(full) is thing:
                domain = env.get_domain("py")
                return domain.resolve_xref(
                    env, node["refdoc"], app.builder, "obj", full, node, words
                )
    return words


def skip(app: Any, what: str, name: str, thing: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn adds to every estimator."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def write_math(page: Any, node: Any) -> None:
    """Write a formula as MathML, which browsers draw without a script."""
    display = "inline" if node.tagname == "math" else "block"
    page.body.append(latex2mathml.converter.convert(node.astext(), display=display))
    raise SkipNode


def write_llms(app: Any, error: Exception | None) -> None:
    """Write llms.txt: what a language model should read of the site, by the table of contents."""
    if error or app.builder.format != "html":
        return
    env = app.env
    lines = [f"# {project}", "", f"> {isonomy.__doc__.partition(chr(10))[0]}", ""]
    for part in env.toctree_includes[root_doc]:
        lines += [f"## {env.titles[part].astext()}", ""]
        for page in [part, *env.toctree_includes.get(part, [])]:
            lines.append(f"- [{env.titles[page].astext()}]({app.builder.get_target_uri(page)})")
        lines.append("")
    Path(app.outdir, "llms.txt").write_text("\n".join(lines), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Write the reference before Sphinx looks for pages."""
    app.add_html_math_renderer("mathml", (write_math, None), (write_math, None))
    app.connect("autodoc-skip-member", skip)
    app.connect("config-inited", lambda *_: generate.main())
    app.connect("source-read", read_page)
    app.connect("include-read", read_include)
    app.connect("missing-reference", resolve)
    app.connect("build-finished", write_llms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
