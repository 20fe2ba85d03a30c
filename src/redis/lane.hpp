// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/answer_reader.hpp"
#include "redis/connection.hpp"
#include "redis/node_context.hpp"
#include "redis/request.hpp"
#include "runtime/answer_wait.hpp"
#include "runtime/visit.hpp"

#include <array>
#include <exception>
#include <memory>
#include <string>

namespace holdfast::redis {

/// A connection for one blocking call at a time: the calling thread itself writes the request and
/// reads the answer, and nobody has to be woken for that. It visits the client's monitor for all
/// else, and is outside while it waits.
class lane {
public:
    /// All but the parts must outlive it.
    lane(node_context&, connection::parts, runtime::answer_wait&);
    lane(const lane&) = delete;
    ~lane();

    /// Whether the server has not hung up, as far as can be seen.
    bool alive() const;

    /// As node::call, but it never queues. When it throws and is `broken`, it is of no more use.
    reply ask(runtime::visit& caller, const script&, request::names_list, request::arguments_list);
    bool broken() const { return broken_; }

    /// Ends what a thread waits for here.
    void hang_up() noexcept;

private:
    void exchange(runtime::visit& caller);
    void talk() noexcept;
    void send();
    void wait_until_writable();
    bool arrived();
    [[noreturn]] void fail(const std::string& why);
    reply take(request& asked, time_point sent_at);

    node_context& context_;
    const int socket_;
    const std::unique_ptr<tls_session> session_; // null: plain
    runtime::answer_wait& wait_;
    answer_reader reader_;
    reply* answer_ = nullptr;
    std::exception_ptr failed_;
    bool broken_ = false;
    std::string outbox_;
    std::string sealed_;
    std::array<char, 16 * 1024> inbox_;
};

} // namespace holdfast::redis
