# SPDX-License-Identifier: Apache-2.0
"""kazoo's Lock, ReadLock and WriteLock at ZooKeeper."""
from dataclasses import dataclass
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout
from kazoo.recipe.lock import Lock, ReadLock, WriteLock
from kazoo.version import __version__

from conversation import Command, Conversation, NotHeld, lengths_in, place_of
from crew import Crew

SESSION_MS = 10_000
ROOT = "/holdfast"

READING = "getReadWriteLock/readLock"
WRITING = "getReadWriteLock/writeLock"


class NamedLock(Lock):
    """As Curator names its nodes, so that each counts the other's."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


class NamedReadLock(Lock):
    _NODE_NAME = "-__READ__"
    _EXCLUDE_NAMES = ["-__WRIT__"]


class NamedWriteLock(Lock):
    _NODE_NAME = "-__WRIT__"
    _EXCLUDE_NAMES = ["-__WRIT__", "-__READ__"]


KINDS: dict[str, type[Lock]] = {"getLock": Lock, READING: ReadLock, WRITING: WriteLock}
NAMED: dict[str, type[Lock]] = {"getLock": NamedLock, READING: NamedReadLock,
                                WRITING: NamedWriteLock}


@dataclass
class Client:
    """Settings: the session's `lease_time`, and `root`. `counts`: "both", Curator's nodes too.

    `names`: "curator", all is as Curator has it.
    """

    keeper: KazooClient
    root: str
    counts: str
    names: str

    def lock(self, kind: str, name: str) -> Lock:
        path = f"{self.root}/{name}"
        if self.names == "curator":
            return NAMED[kind](self.keeper, path, "kazoo")
        others = NAMED[kind]._EXCLUDE_NAMES if self.counts == "both" else ()
        return KINDS[kind](self.keeper, path, "kazoo", extra_lock_patterns=others)


def taken(lock: Lock, patience: int | None) -> bool:
    """In so many ms; none: without a limit."""
    if patience == 0:
        return lock.acquire(blocking=False)
    try:
        return lock.acquire(timeout=patience / 1000 if patience else None)
    except LockTimeout:
        return False


class Peer(Conversation):
    def __init__(self) -> None:
        super().__init__()
        self.clients: dict[str, Client] = {}
        self.held: dict[tuple[str, ...], Lock] = {}
        self.crews: dict[str, Crew] = {}

    def connect(self, command: Command) -> str:
        how = command["settings"]
        address = command["address"].removeprefix("zk://").split("?")[0].split("/")[0]
        keeper = KazooClient(hosts=address, timeout=how.get("lease_time", SESSION_MS) / 1000)
        keeper.start()
        self.clients[command["client"]] = Client(
            keeper, how.get("root", ROOT), how.get("counts", ""), how.get("names", ""))
        return __version__

    def close(self, command: Command) -> None:
        client = self.clients.pop(command["client"])
        client.keeper.stop()
        client.keeper.close()

    def call(self, command: Command) -> Any:
        method = command["method"]
        if method == "lock":
            return self.take(command, None)
        if method == "tryLock":
            return self.take(command, (lengths_in(command) + [0])[0])
        if method == "unlock":
            return self.release(command)
        if method == "isHeldByCurrentThread":
            return place_of(command) in self.held
        if method == "isLocked":
            return bool(self.lock_of(command).contenders())
        if method == "nodeData":
            client = self.clients[command["client"]]
            node = f"{client.root}/{command['name']}/{command['args'][0]}"
            return client.keeper.get(node)[0].decode()
        raise ValueError(f"no {method} here")

    def lock_of(self, command: Command) -> Lock:
        return self.clients[command["client"]].lock(command["object"], command["name"])

    def take(self, command: Command, patience: int | None) -> bool:
        lock = self.lock_of(command)
        if not taken(lock, patience):
            return False
        self.held[place_of(command)] = lock
        return True

    def release(self, command: Command) -> None:
        lock = self.held.pop(place_of(command), None)
        if lock is None:
            raise NotHeld("nothing was taken")
        lock.release()

    def work(self, command: Command) -> None:
        client = self.clients[command["client"]]
        self.crews[command["crew"]] = Crew(client, command["work"], taken)

    def stop(self, command: Command) -> int:
        return self.crews.pop(command["crew"]).stop()


if __name__ == "__main__":
    Peer().go_on()
