#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""code_blocks.py <checkout> <compiler> [<flag>...]: does every C++ block of the pages compile, and
is every shell block well formed?

The blocks are one file for the compiler, each in a namespace of its own, with the includes in
front; its messages name the page and the line. What a block needs and does not show is its context,
one of CONTEXTS. The first is the usual one; a comment above the block names another:

    <!-- compiled as: coroutine -->

A block that is compiled as `complete` is a file of its own, with nothing added. So is every block
of README.md: most readers copy their first lines from there.
"""
import re
import subprocess
import sys
from pathlib import Path

from pages import Block, pages_of

HEAD = """#include <holdfast/holdfast.hpp>
#include <holdfast/memory/server.hpp>
#include <boost/asio.hpp>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <thread>
namespace asio = boost::asio;
using namespace std::chrono_literals;
#if __has_include(<prometheus/exposer.h>)
#include <holdfast/metrics/collector.hpp>
#include <prometheus/exposer.h>
#endif
#if __has_include(<opentelemetry/trace/provider.h>)
#include <opentelemetry/trace/provider.h>
#endif
"""

# A reader of a page knows these: they stand for the rest of the reader's program.
GIVEN = """extern holdfast::client client;
extern holdfast::mutex stock;
void work(std::stop_token = {});
"""

CONTEXTS = {
    "statements": GIVEN + "void block() {\n@\n}\n",
    "coroutine": GIVEN + "asio::awaitable<void> block() {\n@\n}\n",
    "declarations": GIVEN + "@\n",
    # Compiled only where the other library is installed. HEAD includes its headers.
    "prometheus": "#if __has_include(<prometheus/exposer.h>)\n" + GIVEN
                  + "void block() {\n@\n}\n#endif\n",
    "opentelemetry": "#if __has_include(<opentelemetry/trace/provider.h>)\n" + GIVEN
                     + "@\n#endif\n",
    # As Qt declares them; its own headers are not asked for.
    "qt": """namespace Qt { enum ConnectionType { QueuedConnection = 2 }; }
class QObject {};
extern QObject* qApp;
template <typename Object>
class QPointer {
public:
    explicit operator bool() const;
    Object* operator->() const;
};
struct QMetaObject {
    template <typename Function>
    static bool invokeMethod(QObject*, Function, Qt::ConnectionType) { return true; }
};
class QLabel : public QObject { public: void setText(const char*); };
""" + GIVEN + "@\n",
}
USUAL = next(iter(CONTEXTS))
COMPLETE = "complete"


def context_of(block: Block) -> str:
    return COMPLETE if block.page == "README.md" else block.context or USUAL


def one_file(blocks: list[Block]) -> str:
    includes, bodies = [], []
    for number, block in enumerate(blocks):
        if context_of(block) not in CONTEXTS:
            bodies.append(f'#line {block.line} "{block.page}"\n#error no context {block.context}\n')
            continue
        includes += re.findall(r"^ *#include.*$", block.text, re.MULTILINE)
        text = re.sub(r"^ *#include.*$", "", block.text, flags=re.MULTILINE)
        placed = f'#line {block.line} "{block.page}"\n{text}\n#line 1 "context of {block.page}"\n'
        context = CONTEXTS[context_of(block)].replace("@\n", placed)
        bodies.append(f"namespace block_{number} {{\n{context}}}\n")
    return "".join([HEAD, *(f"{line.strip()}\n" for line in dict.fromkeys(includes)), *bodies])


def files_of(blocks: list[Block]) -> list[str]:
    complete = [block for block in blocks if context_of(block) == COMPLETE]
    others = [block for block in blocks if block not in complete]
    return [*([one_file(others)] if others else []),
            *(f'#line {block.line} "{block.page}"\n{block.text}' for block in complete)]


def compiles(text: str, command: list[str]) -> bool:
    # A block may make something only to show how; and a page is no header, as g++ would think.
    command = [*command, "-Wall", "-Werror", "-Wno-unused", "-Wno-subobject-linkage",
               "-fsyntax-only", "-x", "c++", "-"]
    return subprocess.run(command, input=text, text=True).returncode == 0


def is_shell(block: Block) -> bool:
    parsed = subprocess.run(["bash", "-n"], input=block.text, text=True, capture_output=True)
    if parsed.returncode != 0:
        print(f"{block.page}:{block.line}: {parsed.stderr.strip()}")
    return parsed.returncode == 0


def main() -> int:
    root, *command = sys.argv[1:]
    blocks = [block for page in pages_of(Path(root)) for block in page.blocks()]
    cpp = [block for block in blocks if block.language == "cpp"]
    shell = [block for block in blocks if block.language == "sh"]
    good = [*(compiles(text, command) for text in files_of(cpp)), *map(is_shell, shell)]
    print(f"{len(cpp)} blocks of C++, {len(shell)} of shell")
    return 0 if cpp and shell and all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
