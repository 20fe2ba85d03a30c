#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plots.py [<checkout>]: can every text of the plots be read, or is one printed over another?

A text's width depends on the reader's font; half its size for each letter is less than any of the
fonts takes that the plots name. So what is found is there, in whichever font.
"""
import itertools
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


@dataclass
class Text:
    words: str
    left: float
    right: float
    base: float
    size: float

    def covers(self, other: "Text") -> bool:
        apart = abs(self.base - other.base) >= max(self.size, other.size)
        return not apart and self.left < other.right and other.left < self.right


def texts_of(svg: str) -> list[Text]:
    return [placed(element) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def placed(element: ElementTree.Element) -> Text:
    style = dict(part.split(": ", 1) for part in element.get("style").split("; "))
    size = float(style["font"].split("px")[0])
    width = size / 2 * len(element.text)
    share_left = {"start": 0, "middle": 0.5, "end": 1}[style["text-anchor"]]
    left = float(element.get("x")) - share_left * width
    return Text(element.text, left, left + width, float(element.get("y")), size)


def findings_in(root: Path) -> list[str]:
    return [f'{path.relative_to(root)}: "{one.words}" and "{other.words}" are over each other'
            for path in sorted(root.glob("docs/**/*.svg"))
            for one, other in itertools.combinations(texts_of(path.read_text("utf-8")), 2)
            if one.covers(other)]


def main() -> int:
    findings = findings_in(Path(sys.argv[1]) if len(sys.argv) > 1
                           else Path(__file__).resolve().parents[2])
    print(*findings, sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
