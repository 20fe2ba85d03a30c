#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""slowest.py <results folder>: lists the slowest tests of the last `./dev test`.

Each line has the seconds that a test took and the name of its case. A test that is no GoogleTest
program counts as one case. A case that ran several times is listed once, with its longest time.
"""
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

MOST = 50


def times_in(results: Path) -> dict[str, float]:
    times: dict[str, float] = {}

    def note(name: str, seconds: str | None) -> None:
        times[name] = max(times.get(name, 0), float(seconds or 0))

    for report in results.glob("*/*/ctest.junit"):
        for test in xml.parse(report).iter("testcase"):
            program = report.parent / (test.get("name") + ".xml")
            if not program.exists():
                note(test.get("name"), test.get("time"))
                continue
            for case in xml.parse(program).iter("testcase"):
                note(f"{case.get('classname')}.{case.get('name')}", case.get("time"))
    return times


def main() -> int:
    times = times_in(Path(sys.argv[1]))
    if not times:
        print("no test has run yet: run ./dev test first", file=sys.stderr)
        return 1
    slowest = sorted(times.items(), key=lambda each: -each[1])[:MOST]
    for name, seconds in slowest:
        print(f"{seconds:8.2f} s  {name}")
    print(f"{sum(seconds for _, seconds in slowest):8.2f} s  these {len(slowest)}, of "
          f"{sum(times.values()):.2f} s for all {len(times)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
