# SPDX-License-Identifier: Apache-2.0
"""The Markdown pages of a checkout, as far as their tests look at them."""
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Iterator

FENCE = re.compile(r"^```(\w*) *\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONTEXT = re.compile(r"<!-- compiled as: (\w+) -->\n+\Z")
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")


@dataclass
class Block:
    """A fenced block of code: its language, where its first line is, and what it is compiled as."""
    page: str
    line: int
    language: str
    text: str
    context: str


@dataclass
class Page:
    root: Path
    path: str

    @cached_property
    def text(self) -> str:
        return (self.root / self.path).read_text(encoding="utf-8")

    def blocks(self) -> Iterator[Block]:
        for fence in FENCE.finditer(self.text):
            context = CONTEXT.search(self.text, 0, fence.start())
            yield Block(self.path, self.line_at(fence.start(2)), fence[1], fence[2],
                        context[1] if context else "")

    def links(self) -> Iterator[tuple[int, str]]:
        """(line, target), without what only shows how a link looks."""
        for link in LINK.finditer(blank_code(self.text)):
            yield self.line_at(link.start()), link[1]

    def anchors(self) -> set[str]:
        titles = re.findall(r"^#+ +(.*?) *$", blank_code(self.text, inline=False), re.MULTILINE)
        return {anchor_of(title) for title in titles}

    def line_at(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1


def blank_code(text: str, inline: bool = True) -> str:
    """The text without its code; every line keeps its number."""
    text = FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), text)
    return re.sub(r"`[^`\n]*`", "", text) if inline else text


def anchor_of(title: str) -> str:
    """As the site's generator and the usual viewers of a repository make it."""
    title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower().strip()
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", title))


def pages_of(root: Path) -> list[Page]:
    paths = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("*/**/README.md")]
    paths = {path.relative_to(root).as_posix() for path in paths}
    return [Page(root, path) for path in sorted(paths) if not path.startswith("build/")]
