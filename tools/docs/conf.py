# SPDX-License-Identifier: Apache-2.0
"""Configuration of Sphinx for the site of the documents.

./dev docs copies the pages to build/docs/pages with the layout of the checkout, so that links work
in both. Only README.md is called index.md there, with contents.md added at its end.
"""
from pygments.lexers.special import TextLexer

project = "holdfast"
author = copyright = "the holdfast authors"
extensions = ["myst_parser"]
myst_heading_anchors = 4
exclude_patterns = ["tools", "bench/report"]  # the links of a template are those of its page

html_theme = "furo"
html_title = "holdfast"
html_extra_path = ["../reference"]  # Doxygen's pages, in a folder api/
html_copy_source = html_show_sphinx = False

# READMEs of folders are not in the contents, because other pages link to them. Every page of docs/
# must be in the contents, which tests/docs/contents.py checks.
suppress_warnings = ["toc.not_included"]


def setup(app):
    app.add_lexer("crontab", TextLexer)  # tests/docs/run_pages.py runs such blocks
