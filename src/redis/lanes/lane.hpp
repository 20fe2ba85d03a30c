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

/// A connection for one blocking call at a time: the calling thread itself writes the request and
/// reads the answer, and nobody has to be woken for that. It visits the client's monitor for all
/// else, and is outside while it waits.
class lane final : public runtime::interruptible {
public:
    /// All but the parts must outlive it.
    lane(node_context&, connection::parts, runtime::answer_wait&);
    lane(const lane&) = delete;
    ~lane();

    /// Whether the server has not hung up, as far as can be seen.
    bool alive() const;

    /// As node::call, but it never queues. When it throws and is `broken`, it is of no more use.
    reply ask(runtime::visit& caller, request&);
    bool broken() const { return broken_; }

    /// Whether that answer came by this lane.
    bool gave(const reply& said) const { return said.clock == server_clock_; }

    /// Ends the wait of the thread that asks here, for that reason. What arrives from now on is not
    /// believed.
    void condemn(const net::failure& why) {
        condemned_ = why;
        hang_up();
    }

    /// Whether the answer that is awaited now comes only when replicas have confirmed.
    bool waits_for_replicas() const { return wants_confirmation_; }

    /// Only sends it. A server that does not know the script leaves the request `with_text`, for
    /// the caller to ask anew. `resume`, which keeps the request alive, is called when its answer
    /// was read, by whoever asks here next or by collect(); or when the lane ends, but not within
    /// that.
    void send_off(runtime::visit& caller, request&);
    bool owes() const { return !owed_.empty(); }
    std::optional<time_point> owed_since() const {
        return owes() ? std::optional{owed_.front().sent_at} : std::nullopt;
    }
    bool may_owe_more() const { return owed_.size() < owes_max; }

    /// Takes what answers have come, and waits for none. One that takes longer than any may breaks
    /// the lane.
    void collect();

    /// Ends what a thread waits for here.
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
    const std::unique_ptr<net::tls_session> session_; // null: plain
    const std::shared_ptr<runtime::remote_clock> server_clock_;
    runtime::answer_wait& wait_;
    answer_reader reader_;
    std::deque<debt> owed_;    // in the order of sending
    std::vector<reply> early_; // answers to the first of them, read and not given out yet
    reply* answer_ = nullptr;
    bool wants_confirmation_ = false; // of what is asked now: then `answer_` is the one to WAIT,
    std::vector<reply> unconfirmed_;  // and here is the one before it
    std::exception_ptr failed_;
    bool broken_ = false;
    std::optional<net::failure> condemned_; // why; unlike `broken_`, touched only inside
    std::string outbox_;
    std::string sealed_;
    std::array<char, 16 * 1024> inbox_;
};

} // namespace holdfast::redis
