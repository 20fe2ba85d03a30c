// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/descriptor.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace cli {

/// The server said nothing in time, or hung up.
struct no_answer : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A blocking connection to a server on a unix socket, for a few plain questions: what the library
/// does with locks needs none of them. Each waits a few seconds at most.
class server_link {
public:
    /// Nothing: nobody listens there.
    static std::optional<server_link> open(const std::string& socket);

    /// A command without arguments that need quoting. Errors of the server are answers too.
    std::string ask(std::string_view command);

    pid_t server() const; ///< its process
    bool answers() noexcept;

    /// Whether a question has found no answer in time, rather than a closed connection.
    bool was_silent() const noexcept { return silent_; }

    void shut_down(); ///< it hangs up, and ends without saving

private:
    explicit server_link(descriptor connected)
        : socket_{std::move(connected)} {}

    void read_more();
    std::string take_line();
    std::string take(std::size_t bytes);

    descriptor socket_;
    std::string unread_;
    bool silent_ = false;
};

/// What an answer to INFO says behind `NAME:`; empty or 0 if that is not there.
std::string text_in(std::string_view info, std::string_view name);
long number_in(std::string_view info, std::string_view name);

} // namespace cli
