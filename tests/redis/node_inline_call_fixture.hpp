// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "node_fixture.hpp"
#include "runtime/monitor.hpp"

#include <chrono>

namespace holdfast {

/// The same for calls by threads that visit the client, and so go by a blocking connection.
class on_visited_server : public on_fake_server {
protected:
    on_visited_server() {
        how_.blocking_connections_max = 1;
        how_.polling = std::chrono::microseconds{0};
    }
    ~on_visited_server() override { close(); }

    /// By a thread that has it only sent, as a rule: the server answers in this very thread.
    asked visit(redis::call_options options = {}, bool waits = false) {
        if (!node_) {
            store_context home = context();
            home.executor = entrance_.executor();
            node_ = redis::make_node(how_, home);
        }
        asked made;
        {
            runtime::inline_call here{entrance_};
            if (!waits)
                here.wait_for_nothing();
            made = begin_on(here.executor(), "k", options);
        }
        settle();
        return made;
    }
    asked answered_visit() {
        asked made = visit();
        pass(std::chrono::milliseconds{1}); // then the background looks for answers
        return made;
    }
    void visit_until_there_is_a_lane() {
        while (server_.sessions.size() < 2)
            answered_visit();
        answered_visit();
        ASSERT_EQ(server_.sessions.size(), 2u);
        ASSERT_EQ(blocking_connection().asked.size(), 1u);
    }
    fake_server::session& shared() { return *server_.sessions[0]; }
    fake_server::session& blocking_connection() { return *server_.sessions[1]; }

    runtime::monitor entrance_{io_};
};

} // namespace holdfast
