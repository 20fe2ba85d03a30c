# SPDX-License-Identifier: Apache-2.0
"""The site of the documents, for Sphinx.

./dev docs lays out build/docs/pages as the checkout is, so that a link leads to the same file here
and there; only README.md is called index.md here, and has contents.md at its end.
"""
from pygments.lexers.special import TextLexer

project = "holdfast"
author = copyright = "the holdfast authors"
extensions = ["myst_parser"]
myst_heading_anchors = 4
exclude_patterns = ["tools", "bench/report"]  # a template links as the page that is made of it

html_theme = "furo"
html_title = "holdfast"
html_extra_path = ["../reference"]  # Doxygen's pages, in a folder api/
html_copy_source = html_show_sphinx = False

# READMEs of folders are not in the contents; links of other pages lead there. Each page of docs/ is
# in the contents: tests/docs/contents.py checks it.
suppress_warnings = ["toc.not_included"]


def setup(app):
    app.add_lexer("crontab", TextLexer)  # tests/docs/run_pages.py runs such blocks
