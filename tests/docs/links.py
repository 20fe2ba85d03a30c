#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""links.py [<checkout>]: does every link of a page to a file of ours, or to a heading, lead there?
The documents as they are installed are as good as a checkout.

Links to other places are not followed: a test needs no network.
"""
import sys
from pathlib import Path

from pages import Page, pages_of


def findings_in(root: Path) -> list[str]:
    return [f"{page.path}:{line}: {target}: {trouble}"
            for page in pages_of(root) for line, target in page.links()
            if (trouble := trouble_with(page, target))]


def trouble_with(page: Page, target: str) -> str:
    if target.startswith(("https://", "http://", "mailto:")):
        return ""
    path, _, anchor = target.partition("#")
    found = (page.root / page.path).parent / path if path else page.root / page.path
    if not found.exists():
        return "there is no such file"
    if not anchor:
        return ""
    if found.suffix != ".md":
        return "only pages have headings"
    to = Page(page.root, found.resolve().relative_to(page.root.resolve()).as_posix())
    return "" if anchor in to.anchors() else "there is no such heading"


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    findings = findings_in(root) if pages_of(root) else [f"{root}: there is no page"]
    print(*findings, sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
