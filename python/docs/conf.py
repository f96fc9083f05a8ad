"""How the reference pages are built: `make docs`. Nothing here needs the network."""

import inspect
import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import make_pictures
import notebook_pages
from docutils import nodes

project = "headland"
author = "headland contributors"
copyright = author
version = release = version_of("headland")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "tables"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
default_role = "code"

html_theme = "pydata_sphinx_theme"
html_title = f"headland {version}"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_js_files = ["copy.js"]
html_sidebars = {"index": [], "gallery": [], "install": [], "getting_started": []}
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 5,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_numpy_docstring = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90

# `bytes` is a type, and what several records call a number: Sphinx takes the one for any of the others.
suppress_warnings = ["ref.python"]

# Types of the standard library and of packages that users may have: without the network there are no pages to link.
nitpick_ignore_regex = [
    ("py:class", r"(typing|collections\.abc|datetime|pathlib|os|argparse)\..*"),
    ("py:class", r"(geopandas|dask_geopandas|duckdb|pandas|polars|pyarrow|gpd|pa|pd|pl|dt)\..*"),
    ("py:exc", r"duckdb\..*"),
    ("py:class", r"(headland\.mirror\.dataset\.PublishedDataset|PublishedDataset)"),
    (
        "py:class",
        r"(headland\.client\.(pages|filtered_pages|newest_uploads)\.Record|Record|headland\.layer\.table_input\.ArrowStream|headland\.layer\.table\.Row|Row|Path|Source|AsIs|Token|TypeName|DelayArgument|DiagnosticCode|JobKind|TableLike|headland\.agronomy\.concat\.Jobs|Jobs|OnError|Severity)",
    ),
    ("py:class", r"(DtypeBackend|MapFile|Rows|Summary|Units|Mapping\[str, Any\])"),
]


LONGEST_TABLE = 120
"""Characters of a line of output, above which it is a sentence."""

NOT_MADE_BY_USERS = {
    "AsyncConversion",
    "AsyncDelivery",
    "AsyncFilteredPages",
    "AsyncLocationPages",
    "AsyncPages",
    "Checkup",
    "Cleaned",
    "ColumnSummary",
    "Conversion",
    "Delay",
    "Delivery",
    "Faults",
    "FilteredPages",
    "Finding",
    "Layer",
    "LayerReader",
    "LocationPages",
    "Outcome",
    "Pages",
    "Plan",
    "Publication",
    "RateComparison",
    "Rows",
    "Status",
    "Stock",
    "Summary",
    "Table",
    "Unavailable",
    "Verification",
}


def setup(app):
    """Fit autodoc to the package, and make the pictures and the pages of notebooks first."""
    app.connect("config-inited", with_made_files)
    app.connect("missing-reference", by_public_name)
    app.connect("autodoc-process-signature", without_inner_arguments)
    app.connect("autodoc-process-docstring", with_arguments, priority=400)
    app.connect("autodoc-process-docstring", with_whole_sentences, priority=400)
    app.connect("doctree-read", with_wrapped_sentences)


def with_made_files(app, config):
    """Draw the pictures and run the notebooks, before the pages are listed."""
    make_pictures.write()
    notebook_pages.write()


def by_public_name(app, env, node, content):
    """Resolve a name by where users find it: `headland.Pages` for `headland.client.pages.Pages`."""
    domain = env.domains["py"]
    name = node.get("reftarget", "").rpartition(".")[2]
    known = next(
        (
            full
            for full in (f"headland.{name}", f"headland.mirror.{name}", f"headland.records.{name}")
            if full in domain.objects
        ),
        None,
    )
    if node.get("refdomain") != "py" or known is None:
        return None
    return domain.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], known, node, content)


def without_inner_arguments(app, what, name, obj, options, signature, returns):
    """Show no arguments of what only headland itself makes."""
    is_inner = what == "exception" or (what == "class" and name.rpartition(".")[2] in NOT_MADE_BY_USERS)
    return ("", returns) if is_inner and signature else None


def with_arguments(app, what, name, obj, options, lines):
    """Add the arguments of both clients, which the constructor documents, as for ``help``."""
    if name in {"headland.Client", "headland.AsyncClient"}:
        lines += inspect.getdoc(obj.__init__).splitlines()[1:]


def with_whole_sentences(app, what, name, obj, options, lines):
    """Break the first line of an attribute after a colon: napoleon would take what stands before it for a type."""
    if what in {"attribute", "data", "property"} and lines and ": " in lines[0]:
        lines[0:1] = lines[0].replace(": ", ":\n", 1).split("\n")


def with_wrapped_sentences(app, doctree):
    """Let outputs with a long sentence wrap; tables keep their columns, and scroll on narrow pages."""
    for block in doctree.findall(nodes.literal_block):
        if block.get("language") == "output" and max(map(len, block.astext().splitlines()), default=0) > LONGEST_TABLE:
            block["classes"].append("wrapped")
