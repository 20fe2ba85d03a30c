#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""progress.py <log> <times> <number of the stage> <title> [<later title>...]

Reads the output of a stage and keeps it in the log. Shows one line on the terminal: which stage
runs, how far it is, and how long the rest of the command will take.

`times` has a line "seconds, tab, title" for each stage of earlier runs. A stage that has not run
yet takes the time in USUAL_S. Ninja and CTest print "12/190" at the begin of a line.
"""
import re
import select
import shutil
import sys
import time
from pathlib import Path

USUAL_S = {"Building (ci)": 300, "Testing tidy+docs (ci)": 20, "Testing unit (ci)": 25,
           "Testing sim (ci)": 40, "Testing conformance+redis+cli on one-server (ci)": 110,
           "Testing examples on readme (ci)": 1, "Testing differential (ci)": 240}
USUAL_OTHER_S = 60
COUNTED = re.compile(rb"^[\[ ]*(\d+)/(\d+)[ \]]")
ROUND = re.compile(r" \(\d+ of \d+\)$")
SHOWN_EACH_S = 0.5
TRUSTED_AFTER_S = 5  # before that, the steps' count says little


def known_times(file: Path) -> dict[str, float]:
    lines = file.read_text().splitlines() if file.exists() else []
    return {title: float(seconds) for seconds, _, title in (each.partition("\t") for each in lines)}


def expected(title: str, known: dict[str, float]) -> float:
    title = ROUND.sub("", title)
    return known.get(title, USUAL_S.get(title, USUAL_OTHER_S))


def left_of_stage(elapsed: float, usual: float, done: int, of: int) -> float:
    """Estimates the remaining seconds from the finished steps, else from the usual time."""
    if done > 0 and (elapsed > TRUSTED_AFTER_S or done == of):
        return elapsed * (of - done) / done
    return max(usual - elapsed, 0)


def words_of(seconds: float) -> str:
    if seconds < 60:
        return f"{max(5, round(seconds / 5) * 5)} s"
    minutes, rest = divmod(round(seconds / 10) * 10, 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def line_of(number: int, titles: list[str], done: int, of: int, elapsed: float,
            known: dict[str, float]) -> str:
    left = left_of_stage(elapsed, expected(titles[0], known), done, of)
    left += sum(expected(title, known) for title in titles[1:])
    step = f", {done} of {of}" if of else ""
    return (f"[{number}/{number + len(titles) - 1}] {titles[0]}{step}, {elapsed:.0f} s; "
            f"about {words_of(left)} left")


def show(text: str) -> None:
    width = shutil.get_terminal_size().columns - 1
    sys.stdout.write(f"\r\x1b[K{text[:width]}")
    sys.stdout.flush()


def main() -> int:
    log, times, number, *titles = sys.argv[1:]
    known = known_times(Path(times))
    began = time.monotonic()
    done = of = 0
    next_shown = 0.0
    source = sys.stdin.buffer.raw
    rest = b""
    with open(log, "wb") as kept:
        while True:
            now = time.monotonic()
            if now >= next_shown:
                next_shown = now + SHOWN_EACH_S
                show(line_of(int(number), titles, done, of, now - began, known))
            if not select.select([source], [], [], SHOWN_EACH_S)[0]:
                continue
            read = source.read(65536)
            if not read:
                break
            kept.write(read)
            *lines, rest = (rest + read).split(b"\n")
            for line in lines:
                if step := COUNTED.match(line):
                    done, of = int(step[1]), int(step[2])
    show("")
    return 0


if __name__ == "__main__":
    sys.exit(main())
