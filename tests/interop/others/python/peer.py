# SPDX-License-Identifier: Apache-2.0
"""redis-py's Lock."""
from typing import Any

import redis
from redis.exceptions import LockError
from redis.lock import Lock

from conversation import Command, Conversation, lengths_in, place_of

DEFAULT_LEASE = 60_000  # it renews nothing
RETRY_DELAY = 0.1


class Peer(Conversation):
    not_held = (LockError,)

    def __init__(self) -> None:
        super().__init__()
        self.clients: dict[str, redis.Redis] = {}
        self.held: dict[tuple[str, ...], Lock] = {}

    def connect(self, command: Command) -> str:
        client = redis.Redis.from_url(command["address"])
        client.ping()
        self.clients[command["client"]] = client
        return redis.__version__

    def close(self, command: Command) -> None:
        self.clients.pop(command["client"]).close()

    def call(self, command: Command) -> Any:
        lengths = lengths_in(command)
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
            self.held[place_of(command)] = lock
        return taken

    def release(self, command: Command) -> None:
        lock = self.held.pop(place_of(command), None)
        if lock is None:
            raise LockError("nothing was taken")
        lock.release()


if __name__ == "__main__":
    Peer().go_on()
