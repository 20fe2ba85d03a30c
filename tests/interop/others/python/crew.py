# SPDX-License-Identifier: Apache-2.0
"""Threads that take turns until they are stopped, each with its history in a file of its own."""
import random
import threading
import time
from typing import Any, Callable

Turn = dict[str, Any]


class History:
    """A line each, with the ns of CLOCK_MONOTONIC, unbuffered, so that it survives a kill."""

    def __init__(self, path: str) -> None:
        self.file = open(path, "xb", buffering=0)

    def write(self, what: str) -> None:
        self.file.write(f"{time.monotonic_ns()} {what}\n".encode())


class Worker:
    def __init__(self, client: Any, work: dict[str, Any], number: int,
                 taken: Callable[[Any, int | None], bool]) -> None:
        self.client = client
        self.work = work
        self.taken = taken
        self.history = History(f"{work['history']}.{number}")
        self.random = random.Random(work["seed"] + number)
        self.stopped = False
        self.turns = 0
        self.ended_by: Exception | None = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        try:
            while not self.stopped:
                turn = self.random.choice(self.work["turns"])
                self.take(turn, self.random.choice(self.work["names"]) + turn["suffix"])
                self.turns += 1
                self.sleep(turn["pause"])
        except Exception as failure:
            self.history.write(f"failed {type(failure).__name__}: {failure}".replace("\n", " "))
            self.ended_by = failure

    def take(self, turn: Turn, name: str) -> None:
        lock = self.client.lock(turn["object"], name)
        self.history.write(f"asks {name} 0")
        if not self.taken(lock, None if turn["patience"] < 0 else turn["patience"]):
            self.history.write(f"gives-up {name}")
            return
        shared = turn["object"].endswith("readLock")
        self.history.write(f"{'shares' if shared else 'holds'} {name}")
        self.sleep(turn["hold"])
        self.history.write(f"leaves {name}")
        lock.release()
        self.history.write(f"left {name}")

    def sleep(self, most: int) -> None:
        time.sleep(self.random.randint(0, most) / 1000)


class Crew:
    def __init__(self, client: Any, work: dict[str, Any],
                 taken: Callable[[Any, int | None], bool]) -> None:
        self.workers = [Worker(client, work, i, taken) for i in range(work["threads"])]

    def stop(self) -> int:
        for each in self.workers:
            each.stopped = True
        for each in self.workers:
            each.thread.join(30)
            if each.thread.is_alive():
                raise TimeoutError("a worker does not end")
            if each.ended_by:
                raise each.ended_by
        return sum(each.turns for each in self.workers)
