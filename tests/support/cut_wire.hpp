// SPDX-License-Identifier: Apache-2.0
// A wire to a server on which an answer can be lost: the request is carried out, and then the
// connection breaks. What no server does on demand.
#pragma once

#include "support/loop_thread.hpp"

#include <memory>
#include <string>

namespace holdfast::support {

/// Passes on all that comes, both ways, between its own unix socket and the server's.
/// Thread safety: every member.
class cut_wire {
public:
    /// Its socket is `<server_socket>.cut`. Throws `boost::system::system_error`.
    explicit cut_wire(const std::string& server_socket);
    ~cut_wire();

    std::string socket_path() const;

    /// The next request that has `text` in it reaches the server; its answer does not come back.
    void lose_answer_to(std::string text);

private:
    class state;

    loop_thread loop_;
    std::shared_ptr<state> state_;
};

} // namespace holdfast::support
