#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the client's instructions of a pair: compare.py SERVER NOW BEFORE [RECORD].

NOW and BEFORE are paths of the program `pairs` (pairs.cpp), built with this library and with
another revision of it. Valgrind counts the instructions of each program, so the figures do not
depend on the load of the machine. With RECORD, the figures are also added to that file.
"""
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

FEW, MANY = 500, 2500  # pairs: the difference excludes a client's fixed cost
ROUNDS = 3
WAYS = ("blocking", "coroutines")
GOAL = 1.02


def start(server: str, folder: Path) -> subprocess.Popen[bytes]:
    socket = folder / "socket"
    started = subprocess.Popen(
        [server, "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL)
    for _ in range(500):
        if socket.exists():
            return started
        if started.poll() is not None:
            break
        time.sleep(0.02)
    started.kill()
    sys.exit(f"{server} did not start")


def counted(program: str, url: str, way: str, pairs: int) -> int:
    ran = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, url, way,
         str(pairs)], capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", ran.stderr)
    if ran.returncode or not found:
        sys.exit(f"{program} {way}: {ran.stderr}")
    return int(found[1])


def of_a_pair(program: str, url: str, way: str) -> float:
    return (counted(program, url, way, MANY) - counted(program, url, way, FEW)) / (MANY - FEW)


def figure(way: str, now: list[float], before: list[float]) -> dict[str, object]:
    """Returns a figure in the form of bench/figures/figures.hpp."""
    ratios = [ours / theirs for ours, theirs in zip(now, before)]
    ratio = median(ratios)
    return {"name": f"instructions.{way}", "value": median(now), "unit": "instructions/pair",
            "yardstick": median(before), "ratio": round(ratio, 4), "goal": GOAL,
            "holds": ratio <= GOAL, "better": "lower", "value_goal": None,
            "value_spread": [min(now), max(now)], "yardstick_spread": [min(before), max(before)],
            "ratio_spread": [min(ratios), max(ratios)]}


def compare(url: str, now: str, before: str, way: str) -> dict[str, object]:
    rounds = [(of_a_pair(now, url, way), of_a_pair(before, url, way)) for _ in range(ROUNDS)]
    ours, theirs = zip(*rounds)
    return figure(way, list(ours), list(theirs))


def main() -> None:
    server, now, before, *record = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        running = start(server, Path(folder))
        try:
            figures = [compare(f"unix://{folder}/socket", now, before, way) for way in WAYS]
        finally:
            running.kill()
            running.wait()
    for each in figures:
        print(f"{each['name']}: {each['value']:,.0f} a pair, {each['yardstick']:,.0f} before, "
              f"ratio {each['ratio']} (goal <= {GOAL})")
    for path in record:
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(each) + "\n" for each in figures)


if __name__ == "__main__":
    main()
