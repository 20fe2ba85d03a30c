// SPDX-License-Identifier: Apache-2.0
#include "redis/lanes/lane.hpp"

#include "net/later.hpp"
#include "redis/misdirection.hpp"
#include "redis/wire/classify.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace holdfast::redis {
namespace {

bool would_block() {
    return errno == EAGAIN || errno == EWOULDBLOCK;
}

std::string words_for_errno() {
    return error_code{errno, boost::system::system_category()}.message();
}

} // namespace

lane::lane(node_context& context, connection::parts of, runtime::answer_wait& wait)
    : context_{context}
    , to_{std::move(of.to)}
    , socket_{of.socket}
    , session_{std::move(of.session)}
    , server_clock_{std::move(of.server_clock)}
    , wait_{wait}
    , reader_{context.how.reply_bytes_max} {}

lane::~lane() {
    if (session_ && !broken_) {
        sealed_.clear();
        session_->say_goodbye(sealed_);
        (void)!::send(socket_, sealed_.data(), sealed_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    ::close(socket_);
    const auto why = std::make_shared<const net::failure>(
        errc::outcome_unknown, "connection to " + to_->address + " ended before its answer");
    for (const debt& one : owed_) {
        one.to->failed = why;
        asio::post(context_.home.executor, std::move(one.to->resume));
    }
}

bool lane::alive() const {
    char unasked = 0;
    const ssize_t size = ::recv(socket_, &unasked, 1, MSG_PEEK | MSG_DONTWAIT);
    // With TLS, the server sends TLS records between replies, so unexpected bytes are normal.
    // Without TLS, bytes without a request mean that the connection cannot be used any more.
    const bool said_goodbye = session_ && session_->ended();
    return !broken_ && !condemned_ && !said_goodbye &&
           (size < 0 ? would_block() : size > 0 && (session_ || owes()));
}

void lane::hang_up() noexcept {
    ::shutdown(socket_, SHUT_RDWR);
}

reply lane::ask(runtime::visit& caller, request& asked) {
    const bool confirms = asked.wishes.replicas > 0;
    for (;;) {
        const time_point sent_at = context_.home.time.now();
        const duration patience = patience_for(asked);
        asked.compose(composer{outbox_}, *server_clock_);
        if (confirms)
            compose_wait(composer{outbox_}, asked.wishes.replicas, asked.wishes.replicas_within);
        exchange(caller, patience, confirms);
        reply& said = confirms ? unconfirmed_.front() : *answer_;
        if (!asked.with_text && said.type == reply::kind::error && asks_for_script(said.text)) {
            asked.with_text = true;
            continue;
        }
        if (confirms)
            confirm(said, *answer_);
        finish(asked, said, sent_at);
        return asked.take_answer();
    }
}

void lane::confirm(reply& said, const reply& confirmation) {
    broken_ = true; // stays true if the check below throws
    require_confirmation(confirmation);
    broken_ = false;
    if (confirmation.type == reply::kind::error)
        note_demotion(confirmation);
    note_confirmation(said, confirmation);
}

duration lane::patience_for(const request& asked) const {
    const duration patience = context_.how.command_timeout;
    const time_point limit = asked.wishes.answer_by;
    if (limit == time_point::max())
        return patience;
    const time_point now = context_.home.time.now();
    if (limit <= now)
        throw net::failure{errc::unreachable, "not sent: its time was over before"};
    return std::min(patience, limit - now);
}

void lane::exchange(runtime::visit& caller, duration patience, bool confirms) {
    answer_ = nullptr;
    unconfirmed_.clear();
    wants_confirmation_ = confirms;
    caller.outside(*this, [this, patience]() noexcept { talk(patience); });
    wants_confirmation_ = false;
    outbox_.clear();
    give_out();
    if (answer_ && !condemned_)
        return;
    broken_ = true;
    const std::exception_ptr failed = std::exchange(failed_, nullptr);
    if (condemned_)
        throw net::failure{*condemned_};
    std::rethrow_exception(failed);
}

/// Completes the request with its reply.
void lane::finish(request& asked, reply& said, time_point sent_at) {
    if (said.type == reply::kind::error)
        note_demotion(said);
    asked.failed = misdirection(context_, said);
    asked.answer = std::move(said);
    asked.answer.sent_at = sent_at;
    asked.answer.received_at = context_.home.time.now();
    asked.answer.clock = server_clock_;
}

void lane::note_demotion(const reply& error) {
    if (tells_of_demotion(error.text) && context_.leave_server)
        context_.leave_server({classify(error.text), error.text});
}

// Writes the request and reads its reply. Runs outside the client's monitor, so it uses only
// members of this lane.
void lane::talk(duration patience) noexcept {
    try {
        send();
        if (!wait_.wait(socket_, patience, [this] { return arrived(); }))
            fail(to_->address + " did not answer within " + std::to_string(patience.count()) +
                 " ms");
    } catch (...) {
        failed_ = std::current_exception();
    }
}

void lane::send_off(runtime::visit& caller, request& asked) {
    asked.compose(composer{outbox_}, *server_clock_);
    owed_.push_back({&asked, context_.home.time.now()});
    caller.outside(*this, [this]() noexcept {
        try {
            send();
        } catch (...) {
            broken_ = true; // the lane will be destroyed; its destructor fails the waiting requests
        }
    });
    outbox_.clear();
    caller.note_sent_off();
}

void lane::collect() {
    try {
        (void)arrived();
    } catch (const net::failure&) {
        broken_ = true;
    }
    give_out();
    const duration patience = context_.how.command_timeout;
    broken_ = broken_ || answer_ ||
              (owes() && net::later(owed_.front().sent_at, patience) <= context_.home.time.now());
}

/// Gives the early replies to their requests, in the order of sending.
void lane::give_out() {
    if (condemned_) // the destructor fails the waiting requests
        early_.clear();
    for (reply& one : std::exchange(early_, {})) {
        const debt oldest = owed_.front();
        owed_.pop_front();
        settle(oldest, std::move(one));
    }
}

void lane::settle(debt of, reply said) {
    request& asked = *of.to;
    if (said.type == reply::kind::error && asks_for_script(said.text))
        asked.with_text = true;
    finish(asked, said, of.sent_at);
    request::waiter waiter;
    waiter.swap(asked.resume);
    std::move(waiter)();
}

void lane::send() {
    if (session_) {
        sealed_.clear();
        if (!session_->seal(outbox_, sealed_))
            throw net::failure{store_errc::tls_failed,
                               "TLS: what is to be sent could not be sealed"};
        std::swap(outbox_, sealed_);
    }
    for (std::string_view rest = outbox_; !rest.empty();) {
        const ssize_t size = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
        if (size >= 0)
            rest.remove_prefix(static_cast<std::size_t>(size));
        else if (would_block())
            wait_until_writable();
        else if (errno != EINTR)
            lost(words_for_errno());
    }
}

void lane::wait_until_writable() {
    pollfd one{.fd = socket_, .events = POLLOUT, .revents = 0};
    constexpr duration longest{std::chrono::hours{24}}; // the milliseconds must fit into an int
    const auto patience = std::min(context_.how.command_timeout, longest).count();
    if (::poll(&one, 1, static_cast<int>(patience)) == 0)
        fail(to_->address + " takes no more requests");
}

bool lane::arrived() {
    answer_ = nullptr;
    const ssize_t size = ::recv(socket_, inbox_.data(), inbox_.size(), MSG_DONTWAIT);
    if (size < 0 && (would_block() || errno == EINTR))
        return false;
    if (size <= 0)
        lost(size == 0 ? net::closed_by_server : words_for_errno());
    const std::string_view received{inbox_.data(), static_cast<std::size_t>(size)};
    reader_.feed(session_ ? session_->open(received) : received);
    read_answers();
    if (!answer_ && session_ && session_->ended())
        lost(net::closed_by_server);
    return answer_ != nullptr;
}

void lane::read_answers() {
    while (early_.size() < owed_.size()) {
        reply* const earlier = reader_.next();
        if (!earlier)
            return;
        early_.push_back(std::move(*earlier));
    }
    answer_ = reader_.next();
    if (answer_ && wants_confirmation_ && unconfirmed_.empty()) {
        unconfirmed_.push_back(std::move(*answer_));
        answer_ = reader_.next();
    }
}

void lane::lost(const std::string& why) {
    fail("connection to " + to_->address + " lost: " + why);
}

void lane::fail(const std::string& why) {
    throw net::failure{errc::outcome_unknown, why};
}

} // namespace holdfast::redis
