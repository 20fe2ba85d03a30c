// SPDX-License-Identifier: Apache-2.0
// A real server that a test puts into each state in which it replies but does not serve requests,
// and back into the normal state.
#pragma once

#include "support/redis_server.hpp"

#include <holdfast/error.hpp>

#include <ostream>
#include <string>
#include <thread>
#include <vector>

namespace holdfast {

class server_in_trouble;

struct trouble {
    const char* label;
    store_errc code;
    const char* words; ///< how the server begins its refusal of a write
    void (*begin)(server_in_trouble&);
    void (*end)(server_in_trouble&);
    bool only_grants = false; ///< what is held can be released and renewed
};

void PrintTo(const trouble&, std::ostream*);

/// All that one server can be brought into and out of while it runs.
std::vector<trouble> troubles();

class server_in_trouble {
public:
    explicit server_in_trouble(const support::server_binary&);
    ~server_in_trouble();

    support::redis_server& server() { return server_; }
    void set(const std::string& parameter, const std::string& value);

    /// Until it ends, which is up to the trouble.
    void run_aside(std::vector<std::string> command);
    void wait_for_what_runs_aside() { aside_ = {}; }

    void begin(const trouble&); ///< returns when writes are refused
    void end(const trouble&);

private:
    support::redis_server server_;
    const trouble* now_in_ = nullptr;
    std::jthread aside_;
};

} // namespace holdfast
