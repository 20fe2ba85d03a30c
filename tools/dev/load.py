#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""load.py <processes>: keeps the machine busy while its parent lives, and at most for LONGEST.

`./dev test --load` starts it. Each process computes without a pause, and looks four times a second
or so whether it shall go on.
"""
import os
import sys
import time

LONGEST_S = 12 * 3600
TURN_S = 0.25


def burn(parent: int, deadline: float) -> None:
    while os.getppid() == parent and time.monotonic() < deadline:
        turn = time.monotonic() + TURN_S
        number = 1
        while time.monotonic() < turn:
            for _ in range(10_000):
                number = number * 1_103_515_245 % 2_147_483_647


def main() -> int:
    parent, deadline = os.getppid(), time.monotonic() + LONGEST_S
    for _ in range(int(sys.argv[1])):
        here = os.getpid()
        if os.fork() == 0:
            burn(here, deadline)
            os._exit(0)
    # The processes end when this one has ended.
    while os.getppid() == parent and time.monotonic() < deadline:
        time.sleep(TURN_S)
    return 0


if __name__ == "__main__":
    sys.exit(main())
