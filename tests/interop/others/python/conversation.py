# SPDX-License-Identifier: Apache-2.0
"""What the peers in Python share: they are spoken to in lines (tests/interop/README.md)."""
import json
import os
import queue
import sys
import threading
from typing import Any, Callable

Command = dict[str, Any]


class NotHeld(Exception):
    """A lock is released by somebody who does not have it."""


class Actor:
    """A thread that does one thing after the other."""

    def __init__(self) -> None:
        self.tasks: queue.Queue[Callable[[], None]] = queue.Queue()
        threading.Thread(target=self.play, daemon=True).start()

    def play(self) -> None:
        while True:
            self.tasks.get()()


class Conversation:
    """Calls are made by actors; each other verb is a method of that name."""

    not_held: tuple[type[Exception], ...] = (NotHeld,)

    def __init__(self) -> None:
        self.actors: dict[str, Actor] = {}
        self.output = threading.Lock()

    def obey(self, command: Command) -> None:
        verb = command["do"]
        if verb == "call":
            actor = self.actors.setdefault(command["actor"], Actor())
            actor.tasks.put(lambda: self.answer(command, self.call))
        else:
            self.answer(command, getattr(self, verb))

    def call(self, command: Command) -> Any:
        raise NotImplementedError

    def answer(self, command: Command, deed: Callable[[Command], Any]) -> None:
        said = {"id": command["id"]}
        try:
            said["result"] = deed(command)
        except self.not_held as failure:
            said["error"] = f"not_held: {failure}"
        except Exception as failure:  # whatever it is, whoever commanded will say so
            said["error"] = f"{type(failure).__name__}: {failure}"
        with self.output:
            print(json.dumps(said), flush=True)

    def go_on(self) -> None:
        for line in sys.stdin:
            self.obey(json.loads(line))
        os._exit(0)  # whoever commanded is gone


def lengths_in(command: Command) -> list[int]:
    return [word for word in command.get("args", []) if isinstance(word, int)]


def place_of(command: Command) -> tuple[str, ...]:
    return command["actor"], command["client"], command["object"], command["name"]
