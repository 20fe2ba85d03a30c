// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"

namespace cli {

class inheritance;

// The verbs of the program. Each function takes the arguments after the verb and returns the exit
// status.
int run(const inheritance&, arguments);
int demo(const inheritance&, arguments);
int doctor(const inheritance&, arguments);
int ls(const inheritance&, arguments);
int inspect(const inheritance&, arguments);
int unlock(const inheritance&, arguments);
int wait(const inheritance&, arguments);
int latch(const inheritance&, arguments);
int bench(const inheritance&, arguments);
int server(const inheritance&, arguments);

// For internal use: the demo starts it.
int demo_worker(const inheritance&, arguments);
int demo_holder(const inheritance&, arguments);

// For internal use: a process starts it if it needs a private server and finds none.
int private_server(const inheritance&, arguments);

} // namespace cli
