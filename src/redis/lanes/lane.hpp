// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/link/connection.hpp"
#include "redis/node_context.hpp"
#include "redis/request.hpp"
#include "redis/wire/answer_reader.hpp"
#include "runtime/answer_wait.hpp"
#include "runtime/visit.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::redis {

/// Connection for one blocking call at a time (`lane`). The calling thread itself writes the
/// request and reads the reply, so no thread has to be woken. The thread is outside the client's
/// monitor while it waits for the reply, and inside for everything else.
class lane final : public runtime::interruptible {
public:
    /// The context and the `answer_wait` must outlive the lane.
    lane(node_context&, connection::parts, runtime::answer_wait&);
    lane(const lane&) = delete;
    ~lane();

    /// Returns whether the server has not closed the connection, as far as can be seen.
    bool alive() const;

    /// Does the same as node::call(), but without a queue. If it throws and the lane is `broken`
    /// then, the lane cannot be used again.
    reply ask(runtime::visit& caller, request&);
    bool broken() const { return broken_; }

    /// Returns whether the reply came over this lane.
    bool gave(const reply& said) const { return said.clock == server_clock_; }

    /// Makes the waiting thread stop with the failure `why`. Replies that arrive from now on are
    /// ignored.
    void condemn(const net::failure& why) {
        condemned_ = why;
        hang_up();
    }

    /// Returns whether the present call waits for replicas to confirm.
    bool waits_for_replicas() const { return wants_confirmation_; }

    /// Sends the request without waiting for its reply. `resume`, which keeps the request alive, is
    /// called when the next ask() or collect() has read the reply. If the lane ends before,
    /// `resume` is posted. If the server does not know the script, the request has `with_text` set
    /// then, and the caller must send it again.
    void send_off(runtime::visit& caller, request&);
    bool owes() const { return !owed_.empty(); }
    std::optional<time_point> owed_since() const {
        return owes() ? std::optional{owed_.front().sent_at} : std::nullopt;
    }
    bool may_owe_more() const { return owed_.size() < owes_max; }

    /// Reads the replies that have arrived, without waiting. If the oldest reply is owed for longer
    /// than `command_timeout`, marks the lane as broken.
    void collect();

    /// Makes the waiting thread stop.
    void hang_up() noexcept;
    void interrupt() noexcept override { hang_up(); }

private:
    static constexpr std::size_t owes_max = 64;

    struct debt {
        request* to;
        time_point sent_at;
    };

    duration patience_for(const request&) const;
    void exchange(runtime::visit& caller, duration patience, bool confirms);
    void talk(duration patience) noexcept;
    void finish(request&, reply&, time_point sent_at);
    void confirm(reply&, const reply& confirmation);
    void note_demotion(const reply& error);
    void give_out();
    void settle(debt, reply);
    void send();
    void wait_until_writable();
    bool arrived();
    void read_answers();
    [[noreturn]] void lost(const std::string& why);
    [[noreturn]] void fail(const std::string& why);

    node_context& context_;
    const std::shared_ptr<const destination> to_;
    const int socket_;
    const std::unique_ptr<net::tls_session> session_; // null without TLS
    const std::shared_ptr<runtime::remote_clock> server_clock_;
    runtime::answer_wait& wait_;
    answer_reader reader_;
    std::deque<debt> owed_; // requests without a reply, in the order of sending
    // Replies to the first of `owed_` that were read but not yet given out.
    std::vector<reply> early_;
    reply* answer_ = nullptr;
    // The present request is followed by WAIT. Then `answer_` is the reply to WAIT, and
    // `unconfirmed_` has the reply to the request.
    bool wants_confirmation_ = false;
    std::vector<reply> unconfirmed_;
    std::exception_ptr failed_;
    bool broken_ = false;
    // Reason why replies are ignored. Unlike `broken_`, it is touched only inside the monitor.
    std::optional<net::failure> condemned_;
    std::string outbox_;
    std::string sealed_;
    std::array<char, 16 * 1024> inbox_;
};

} // namespace holdfast::redis
