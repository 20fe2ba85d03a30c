#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""timings.py <build folder>: prints where the time of the last build went, from ninja's log.

What came out of the compiler cache took next to no time: for the whole cost, `CCACHE_DISABLE=1
./dev build --timings` after `./dev clean`.
"""
import sys
from pathlib import Path

MOST = 25


def steps_of(log: Path) -> dict[str, tuple[int, int]]:
    """Returns the begin and end of each output of the last build, in milliseconds."""
    steps: dict[str, tuple[int, int]] = {}
    last_end = 0
    for line in log.read_text().splitlines()[1:]:
        begin, end, _, output, _ = line.split("\t")
        if int(end) < last_end:  # each build counts from zero
            steps.clear()
        last_end = int(end)
        steps[output] = (int(begin), int(end))
    return steps


def target_of(output: str) -> str:
    parts = Path(output).parts
    return next((part[:-4] for part in parts if part.endswith(".dir")), "linking and the rest")


def main() -> int:
    steps = steps_of(Path(sys.argv[1]) / ".ninja_log")
    if not steps:
        print("nothing was built")
        return 0
    took = {output: (end - begin) / 1000 for output, (begin, end) in steps.items()}
    targets: dict[str, float] = {}
    for output, seconds in took.items():
        targets[target_of(output)] = targets.get(target_of(output), 0) + seconds
    ended = max(end for _, end in steps.values()) / 1000
    print(f"{len(took)} steps, {sum(took.values()):.0f} s of work in {ended:.0f} s\n\nBy target:")
    for name, seconds in sorted(targets.items(), key=lambda each: -each[1])[:MOST]:
        print(f"  {seconds:7.1f} s  {name}")
    print("\nThe longest steps:")
    for output, seconds in sorted(took.items(), key=lambda each: -each[1])[:MOST]:
        print(f"  {seconds:7.1f} s  {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
