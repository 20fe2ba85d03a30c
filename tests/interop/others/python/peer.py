# SPDX-License-Identifier: Apache-2.0
"""redis-py's Lock, spoken to in lines as all peers are (tests/interop/README.md)."""
import json
import os
import queue
import sys
import threading
from typing import Any, Callable

import redis
from redis.exceptions import LockError
from redis.lock import Lock

DEFAULT_LEASE = 60_000  # it renews nothing
RETRY_DELAY = 0.1

Command = dict[str, Any]


class Actor:
    """A thread that does one thing after the other."""

    def __init__(self) -> None:
        self.tasks: queue.Queue[Callable[[], None]] = queue.Queue()
        threading.Thread(target=self.play, daemon=True).start()

    def play(self) -> None:
        while True:
            self.tasks.get()()


class Peer:
    def __init__(self) -> None:
        self.clients: dict[str, redis.Redis] = {}
        self.actors: dict[str, Actor] = {}
        self.held: dict[tuple[str, ...], Lock] = {}
        self.output = threading.Lock()

    def obey(self, command: Command) -> None:
        verb = command["do"]
        if verb == "call":
            actor = self.actors.setdefault(command["actor"], Actor())
            actor.tasks.put(lambda: self.answer(command, self.call))
        else:
            self.answer(command, {"connect": self.connect, "close": self.close}[verb])

    def connect(self, command: Command) -> str:
        client = redis.Redis.from_url(command["address"])
        client.ping()
        self.clients[command["client"]] = client
        return redis.__version__

    def close(self, command: Command) -> None:
        self.clients.pop(command["client"]).close()

    def call(self, command: Command) -> Any:
        lengths = [word for word in command.get("args", []) if isinstance(word, int)]
        method = command["method"]
        if method == "lock":
            return self.take(command, None, (lengths or [DEFAULT_LEASE])[0])
        if method == "tryLock":
            patience, lease = (lengths + [0, DEFAULT_LEASE][len(lengths):])[:2]
            return self.take(command, patience, lease)
        if method == "unlock":
            return self.release(command)
        if method == "isLocked":
            return self.lock_of(command, DEFAULT_LEASE).locked()
        raise ValueError(f"no {method} here")

    def lock_of(self, command: Command, lease: int) -> Lock:
        return self.clients[command["client"]].lock(
            command["name"], timeout=lease / 1000, sleep=RETRY_DELAY, thread_local=False)

    def take(self, command: Command, patience: int | None, lease: int) -> bool:
        lock = self.lock_of(command, lease)
        taken = lock.acquire(blocking=patience != 0,
                             blocking_timeout=patience / 1000 if patience else None)
        if taken:
            self.held[self.place_of(command)] = lock
        return taken

    def release(self, command: Command) -> None:
        lock = self.held.pop(self.place_of(command), None)
        if lock is None:
            raise LockError("nothing was taken")
        lock.release()

    @staticmethod
    def place_of(command: Command) -> tuple[str, ...]:
        return command["actor"], command["client"], command["name"]

    def answer(self, command: Command, deed: Callable[[Command], Any]) -> None:
        said = {"id": command["id"]}
        try:
            said["result"] = deed(command)
        except LockError as failure:
            said["error"] = f"not_held: {failure}"
        except Exception as failure:  # whatever it is, whoever commanded will say so
            said["error"] = f"{type(failure).__name__}: {failure}"
        with self.output:
            print(json.dumps(said), flush=True)


def main() -> None:
    peer = Peer()
    for line in sys.stdin:
        peer.obey(json.loads(line))
    os._exit(0)  # whoever commanded is gone


if __name__ == "__main__":
    main()
