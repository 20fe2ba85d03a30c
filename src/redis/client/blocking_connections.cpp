// SPDX-License-Identifier: Apache-2.0
#include "redis/client/blocking_connections.hpp"

#include "net/deadlines.hpp"
#include "redis/client/error_replies.hpp"
#include "runtime/background.hpp"

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

blocking_connection::blocking_connection(node_context& context, connection::parts of,
                                         runtime::answer_wait& wait)
    : context_{context}
    , to_{std::move(of.to)}
    , socket_{of.socket}
    , session_{std::move(of.session)}
    , server_clock_{std::move(of.server_clock)}
    , wait_{wait}
    , reader_{context.how.reply_bytes_max} {}

blocking_connection::~blocking_connection() {
    if (session_ && !broken_) {
        sealed_.clear();
        session_->say_goodbye(sealed_);
        (void)!::send(socket_, sealed_.data(), sealed_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    ::close(socket_);
    const auto why = std::make_shared<const net::failure>(
        errc::outcome_unknown, "connection to " + to_->address + " ended before its answer");
    for (const pending_reply& one : owed_) {
        one.to->failed = why;
        asio::post(context_.home.executor, std::move(one.to->resume));
    }
}

bool blocking_connection::alive() const {
    char unasked = 0;
    const ssize_t size = ::recv(socket_, &unasked, 1, MSG_PEEK | MSG_DONTWAIT);
    // Without TLS, bytes that arrive while no reply is expected make the connection unusable. With
    // TLS, such bytes are normal: the server sends TLS records between replies.
    const bool said_goodbye = session_ && session_->ended();
    return !broken_ && !condemned_ && !said_goodbye &&
           (size < 0 ? would_block() : size > 0 && (session_ || owes()));
}

void blocking_connection::hang_up() noexcept {
    ::shutdown(socket_, SHUT_RDWR);
}

reply blocking_connection::ask(runtime::inline_call& caller, request& asked) {
    const bool confirms = asked.options.replicas > 0;
    for (;;) {
        const time_point sent_at = context_.home.time.now();
        const duration timeout = timeout_for(asked);
        asked.compose(composer{outbox_}, *server_clock_);
        if (confirms)
            compose_wait(composer{outbox_}, asked.options.replicas, asked.options.replicas_within);
        exchange(caller, timeout, confirms);
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

void blocking_connection::confirm(reply& said, const reply& confirmation) {
    broken_ = true; // stays true if the next line throws
    require_confirmation(confirmation);
    broken_ = false;
    if (confirmation.type == reply::kind::error)
        note_demotion(confirmation);
    note_confirmation(said, confirmation);
}

duration blocking_connection::timeout_for(const request& asked) const {
    const duration timeout = context_.how.command_timeout;
    const time_point limit = asked.options.answer_by;
    if (limit == time_point::max())
        return timeout;
    const time_point now = context_.home.time.now();
    if (limit <= now)
        throw net::failure{errc::unreachable, "not sent: its timeout expired first"};
    return std::min(timeout, limit - now);
}

void blocking_connection::exchange(runtime::inline_call& caller, duration timeout, bool confirms) {
    answer_ = nullptr;
    unconfirmed_.clear();
    wants_confirmation_ = confirms;
    caller.run_outside(*this, [this, timeout]() noexcept { talk(timeout); });
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

/// Stores the reply in its request, together with its times.
void blocking_connection::finish(request& asked, reply& said, time_point sent_at) {
    if (said.type == reply::kind::error)
        note_demotion(said);
    asked.failed = misdirection(context_, said);
    asked.answer = std::move(said);
    asked.answer.sent_at = sent_at;
    asked.answer.received_at = context_.home.time.now();
    asked.answer.clock = server_clock_;
}

void blocking_connection::note_demotion(const reply& error) {
    if (tells_of_demotion(error.text) && context_.leave_server)
        context_.leave_server({classify(error.text), error.text});
}

// Writes the request and reads its reply. This function runs outside the client's monitor (the
// mutex of the client), so it uses only the members of this connection.
void blocking_connection::talk(duration timeout) noexcept {
    try {
        send();
        if (!wait_.wait(socket_, timeout, [this] { return arrived(); }))
            fail(to_->address + " did not answer within " + std::to_string(timeout.count()) +
                 " ms");
    } catch (...) {
        failed_ = std::current_exception();
    }
}

void blocking_connection::send_off(runtime::inline_call& caller, request& asked) {
    asked.compose(composer{outbox_}, *server_clock_);
    owed_.push_back({&asked, context_.home.time.now()});
    caller.run_outside(*this, [this]() noexcept {
        try {
            send();
        } catch (...) {
            broken_ = true; // the blocking connection will be destroyed; its destructor fails the
                            // waiting requests
        }
    });
    outbox_.clear();
    caller.note_sent_off();
}

void blocking_connection::collect() {
    try {
        (void)arrived();
    } catch (const net::failure&) {
        broken_ = true;
    }
    give_out();
    const duration timeout = context_.how.command_timeout;
    broken_ = broken_ || answer_ ||
              (owes() && net::later(owed_.front().sent_at, timeout) <= context_.home.time.now());
}

/// Passes the replies in `early_` to their requests. The replies are in the order in which the
/// requests were sent.
void blocking_connection::give_out() {
    if (condemned_) // the destructor fails the waiting requests
        early_.clear();
    for (reply& one : std::exchange(early_, {})) {
        const pending_reply oldest = owed_.front();
        owed_.pop_front();
        settle(oldest, std::move(one));
    }
}

void blocking_connection::settle(pending_reply of, reply said) {
    request& asked = *of.to;
    if (said.type == reply::kind::error && asks_for_script(said.text))
        asked.with_text = true;
    finish(asked, said, of.sent_at);
    request::waiter waiter;
    waiter.swap(asked.resume);
    std::move(waiter)();
}

void blocking_connection::send() {
    if (session_) {
        sealed_.clear();
        if (!session_->seal(outbox_, sealed_))
            throw net::failure{store_errc::tls_failed, "TLS: the data could not be encrypted"};
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

void blocking_connection::wait_until_writable() {
    pollfd one{.fd = socket_, .events = POLLOUT, .revents = 0};
    constexpr duration longest{std::chrono::hours{24}}; // the milliseconds must fit into an int
    const auto timeout = std::min(context_.how.command_timeout, longest).count();
    if (::poll(&one, 1, static_cast<int>(timeout)) == 0)
        fail(to_->address + " takes no more requests");
}

bool blocking_connection::arrived() {
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

void blocking_connection::read_answers() {
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

void blocking_connection::lost(const std::string& why) {
    fail("connection to " + to_->address + " lost: " + why);
}

void blocking_connection::fail(const std::string& why) {
    throw net::failure{errc::outcome_unknown, why};
}

blocking_connections::blocking_connections(std::shared_ptr<node_context> context)
    : context_{std::move(context)}
    , wait_{context_->how.polling}
    , hang_detector_{*context_}
    , backoff_{context_->how.backoff_min, context_->how.backoff_max}
    , tidying_{context_->home.time.make_alarm()}
    , collecting_{context_->home.time.make_alarm()}
    , suspecting_{context_->home.time.make_alarm()} {}

/// Borrows the free connection that was used most recently. So the other connections become idle
/// and can be closed. Then reads the late replies that have arrived on the borrowed connection.
blocking_connection* blocking_connections::borrow() {
    entry* best = nullptr;
    for (entry& each : all_)
        if (!each.lent && !each.leaves && (!best || each.used_at > best->used_at))
            best = &each;
    if (!best) {
        ask_for_one_more();
        return nullptr;
    }
    if (!best->line->alive()) { // probably the other connections are dead, too
        std::erase_if(all_, [](const entry& each) { return !each.lent && !each.line->alive(); });
        return nullptr;
    }
    best->lent = true;
    best->lent_at = context_->home.time.now();
    if (hang_detector_.is_possible())
        suspect_soon();
    return best->line.get();
}

void blocking_connections::give_back(const blocking_connection& used) {
    const auto found = std::find_if(all_.begin(), all_.end(),
                                    [&](const entry& each) { return each.line.get() == &used; });
    found->lent = false;
    found->used_at = context_->home.time.now();
    if (used.broken() || found->leaves || closed_)
        all_.erase(found);
}

void blocking_connections::ask_for_one_more() {
    if (closed_ || opening_ || all_.size() >= context_->how.blocking_connections_max ||
        context_->home.time.now() < not_before_ || ++demands_ < demands_min)
        return;
    demands_ = 0;
    opening_ = std::make_shared<connection>(context_->home, context_->how);
    runtime::run_in_background(context_->home, open(shared_from_this()));
}

asio::awaitable<void> blocking_connections::open(std::shared_ptr<blocking_connections> self) {
    const std::shared_ptr<connection> line = self->opening_;
    server_hello told;
    const std::optional<net::failure> why =
        co_await establish(*self->context_, purpose::more_commands, *line, told);
    self->opening_.reset();
    if (self->closed_)
        co_return;
    const time_point now = self->context_->home.time.now();
    if (why) { // the shared connection serves the calls and reports it
        self->not_before_ = net::later(now, self->backoff_.next(self->context_->home.random()));
        co_return;
    }
    self->backoff_.reset();
    self->all_.push_back(
        {std::make_unique<blocking_connection>(*self->context_, line->take_apart(), self->wait_),
         now, told.run_id});
    if (self->context_->on_other_connection)
        self->context_->on_other_connection(told);
    if (!std::exchange(self->tidies_, true))
        runtime::run_in_background(self->context_->home, close_idle(self));
}

asio::awaitable<void> blocking_connections::close_idle(std::shared_ptr<blocking_connections> self) {
    const clock& time = self->context_->home.time;
    while (!self->closed_ && !self->all_.empty()) {
        co_await self->tidying_->wait_until(time.now() + idle_max);
        if (self->closed_)
            break;
        const time_point used_before = time.now() - idle_max;
        std::erase_if(self->all_,
                      [&](const entry& each) { return !each.lent && each.used_at <= used_before; });
    }
    self->tidies_ = false;
}

void blocking_connections::collect_soon() {
    if (!std::exchange(collects_, true))
        runtime::run_in_background(context_->home, collect(shared_from_this()));
}

bool blocking_connections::any_owes() const {
    return std::any_of(all_.begin(), all_.end(),
                       [](const entry& each) { return each.line->owes(); });
}

asio::awaitable<void> blocking_connections::collect(std::shared_ptr<blocking_connections> self) {
    while (!self->closed_ && self->any_owes()) {
        co_await self->collecting_->wait_until(self->context_->home.time.now() + collect_period);
        for (const entry& each : self->all_)
            if (!each.lent && each.line->owes())
                each.line->collect();
        std::erase_if(self->all_,
                      [](const entry& each) { return !each.lent && each.line->broken(); });
    }
    self->collects_ = false;
}

void blocking_connections::suspect_soon() {
    if (!std::exchange(suspects_, true))
        runtime::run_in_background(context_->home, suspect(shared_from_this()));
}

/// Checks in the background whether a reply has been missing for too long. A thread that waits for
/// the reply cannot check this itself.
asio::awaitable<void> blocking_connections::suspect(std::shared_ptr<blocking_connections> self) {
    while (!self->closed_) {
        const auto owed_since = self->owed_since();
        if (!owed_since)
            break;
        co_await self->suspecting_->wait_until(self->hang_detector_.due(owed_since));
        if (!self->closed_)
            self->hang_detector_.look(self->owed_since(), self->context_->home.time.now());
    }
    self->suspects_ = false;
}

/// Returns the time at which the longest of the running waits for a reply began. If a call uses the
/// connection, the wait began when the call borrowed the connection. If no call uses it, the wait
/// began when its oldest request without a reply was sent.
std::optional<time_point> blocking_connections::owed_since() const {
    std::optional<time_point> first;
    const auto note = [&first](time_point since) {
        first = std::min(first.value_or(since), since);
    };
    for (const entry& each : all_) {
        if (each.lent)
            note(each.lent_at);
        else if (const auto since = each.line->owed_since())
            note(*since);
    }
    return first;
}

// Only marks the connections; sweep_soon() ends them later. The caller may be iterating over the
// connections, so they must not be removed now.
void blocking_connections::cut(const net::failure& why) {
    if (closed_)
        return;
    if (opening_)
        opening_->cut(why);
    for (entry& each : all_)
        each.leaves = true;
    sweep_soon();
}

void blocking_connections::move(const net::failure& why) {
    cut(why);
    backoff_.reset();
    not_before_ = time_point::min();
    for (const entry& each : all_)
        each.line->condemn(why);
}

bool blocking_connections::cut_silent(time_point since, const net::failure& why) {
    bool any = false;
    for (entry& each : all_) {
        const auto owed_since = each.lent ? std::optional{each.lent_at} : each.line->owed_since();
        if (closed_ || !owed_since || *owed_since > since || each.line->waits_for_replicas())
            continue;
        each.line->condemn(why);
        each.leaves = any = true;
    }
    if (any)
        sweep_soon();
    return any;
}

void blocking_connections::follow(const server_in_use& now, const net::failure& why) {
    if (closed_)
        return;
    if (opening_ && now.may_be_another)
        opening_->cut(why);
    for (entry& each : all_) {
        if (now.serves(each.run_id))
            continue;
        each.line->condemn(why);
        each.leaves = true;
    }
    sweep_soon();
}

void blocking_connections::distrust(const reply& said) {
    const auto found = std::find_if(all_.begin(), all_.end(),
                                    [&](const entry& each) { return each.line->gave(said); });
    if (closed_ || found == all_.end())
        return;
    found->line->condemn({errc::outcome_unknown, "connection to " + context_->address() +
                                                     " ended: an earlier answer was not valid"});
    found->leaves = true;
    sweep_soon();
}

void blocking_connections::sweep_soon() {
    asio::post(context_->home.executor, [self = shared_from_this()] {
        std::erase_if(self->all_, [](const entry& each) { return each.leaves && !each.lent; });
    });
}

void blocking_connections::close() {
    // A second call must do nothing, because it may come from the destructor, which may run on any
    // thread.
    if (closed_)
        return;
    closed_ = true;
    if (opening_)
        opening_->cut({errc::closed, context_->address() + ": the client is closed"});
    for (const entry& each : all_)
        each.line->hang_up();
    std::erase_if(all_, [](const entry& each) { return !each.lent; });
    tidying_->ring();
    collecting_->ring();
    suspecting_->ring();
}

} // namespace holdfast::redis
