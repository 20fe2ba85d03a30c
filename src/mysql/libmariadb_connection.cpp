// SPDX-License-Identifier: Apache-2.0
#include "mysql/libmariadb_connection.hpp"

#include "mysql/server_answers.hpp"
#include "net/failure.hpp"

#include <boost/asio/deferred.hpp>

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <mysql.h>
#include <sys/socket.h>
#include <unistd.h>

namespace holdfast::mysql {
namespace {

/// Returns whether the error comes from libmariadb itself. The connection has then ended, or its
/// data are no longer readable.
bool ended_by(unsigned error) {
    return error >= 2000 && error < 3000;
}

struct frees_rows {
    void operator()(MYSQL_RES* rows) const noexcept { mysql_free_result(rows); }
};

std::vector<std::optional<std::string>> copy_of(MYSQL_ROW row, const unsigned long* lengths,
                                                unsigned columns) {
    std::vector<std::optional<std::string>> made(columns);
    for (unsigned column = 0; column < columns; ++column)
        if (row[column])
            made[column].emplace(row[column], lengths[column]);
    return made;
}

} // namespace

/// Guard that exists while a call is running on the connection.
class libmariadb_connection::call {
public:
    call(libmariadb_connection& on, time_point limit)
        : on_{on} {
        on_.busy_ = true;
        on_.limit_ = limit;
    }
    call(const call&) = delete;
    ~call() {
        on_.busy_ = false;
        on_.limit_ = time_point::max();
        if (!done_)
            on_.cut({errc::closed, "the call was given up"}); // the coroutine's frame was destroyed
        if (on_.cut_)
            on_.release();
        else if (!on_.inline_caller()) // a calling thread usually sends its next request soon
            on_.watch();
    }
    void done() { done_ = true; }

private:
    libmariadb_connection& on_;
    bool done_ = false;
};

libmariadb_connection::libmariadb_connection(const store_context& home, handle made)
    : home_{home}
    , handle_{std::move(made)}
    , over_tls_{handle_.over_tls()}
    , socket_{home.executor, handle_.socket()}
    , monitor_{runtime::monitor::of(home.executor)} {}

libmariadb_connection::~libmariadb_connection() {
    release();
}

asio::awaitable<std::vector<statement_answer>>
libmariadb_connection::ask(const std::vector<std::string>& statements, time_point limit) {
    const auto keep = shared_from_this();
    if (cut_)
        throw_lost(false);
    call mine{*this, limit};
    if (inline_caller())
        stop_watching();
    sent_at_ = home_.time.now();
    bool sent = false;
    for (const std::string& each : statements) {
        co_await send(each);
        if (cut_)
            throw_lost(sent);
        sent = true;
    }
    std::vector<statement_answer> all;
    all.reserve(statements.size());
    while (all.size() < statements.size()) {
        all.push_back(co_await answer());
        if (cut_)
            throw_lost(true);
    }
    heard_at_ = home_.time.now();
    open_ = all.back().open;
    mine.done();
    co_return all;
}

asio::awaitable<void> libmariadb_connection::send(const std::string& statement) {
    int failed = 0;
    int wanted = 0;
    {
        const tls_guard quiet{over_tls_};
        wanted = mysql_send_query_start(&failed, handle_.get(), statement.data(), statement.size());
    }
    while (wanted) {
        const int seen = co_await ready(wanted);
        const tls_guard quiet{over_tls_};
        wanted = mysql_send_query_cont(&failed, handle_.get(), seen);
    }
    if (failed)
        cut(failure_of({.code = make_error_code(errc::outcome_unknown)}, handle_.error(),
                       handle_.words()));
}

asio::awaitable<statement_answer> libmariadb_connection::answer() {
    my_bool failed = 0;
    int wanted = 0;
    {
        const tls_guard quiet{over_tls_};
        wanted = mysql_read_query_result_start(&failed, handle_.get());
    }
    while (wanted) {
        const int seen = co_await ready(wanted);
        const tls_guard quiet{over_tls_};
        wanted = mysql_read_query_result_cont(&failed, handle_.get(), seen);
    }
    statement_answer told;
    if (!failed && mysql_field_count(handle_.get()) > 0)
        co_await read_rows(told);
    else if (!failed) {
        told.what.matched = mysql_affected_rows(handle_.get());
        told.what.insert_id = mysql_insert_id(handle_.get());
    } else {
        told.what.error = handle_.error();
        told.what.words = handle_.words();
    }
    told.open = told.what.error == 0 && handle_.in_transaction();
    if (ended_by(told.what.error)) {
        const meaning what = classify(told.what.error, told.what.words);
        cut(failure_of(what, told.what.error, told.what.words));
    }
    co_return told;
}

asio::awaitable<void> libmariadb_connection::read_rows(statement_answer& into) {
    MYSQL_RES* raw = nullptr;
    int wanted = 0;
    {
        const tls_guard quiet{over_tls_};
        wanted = mysql_store_result_start(&raw, handle_.get());
    }
    while (wanted) {
        const int seen = co_await ready(wanted);
        const tls_guard quiet{over_tls_};
        wanted = mysql_store_result_cont(&raw, handle_.get(), seen);
    }
    const std::unique_ptr<MYSQL_RES, frees_rows> rows{raw};
    if (!rows) {
        into.what.error = handle_.error();
        into.what.words = handle_.words();
        co_return;
    }
    const unsigned columns = mysql_num_fields(raw);
    while (const MYSQL_ROW row = mysql_fetch_row(raw))
        into.what.rows.push_back(copy_of(row, mysql_fetch_lengths(raw), columns));
}

asio::awaitable<int> libmariadb_connection::ready(int wanted) {
    const bool to_write = (wanted & MYSQL_WAIT_WRITE) && !(wanted & MYSQL_WAIT_READ);
    if (runtime::inline_call* const caller = to_write ? nullptr : inline_caller())
        if (wait_outside(*caller))
            co_return MYSQL_WAIT_READ;
    if (!can_be_watched())
        co_return wanted; // libmariadb reports the error when the call continues
    auto begin = [this, to_write](auto handler) {
        asio::any_completion_handler<void()>{std::move(handler)}.swap(waiter_);
        if (!to_write)
            return watch();
        auto writable = [weak = weak_from_this()](error_code) {
            if (const auto self = weak.lock())
                self->resume();
        };
        socket_.async_wait(own_socket::wait_type::wait_write, writable);
    };
    co_await asio::async_initiate<const asio::deferred_t, void()>(begin, asio::deferred);
    co_return to_write ? MYSQL_WAIT_WRITE : MYSQL_WAIT_READ;
}

/// Returns this thread's `inline_call` object if the thread runs its own call inside the client's
/// monitor and may wait for the answer itself. Otherwise returns null.
runtime::inline_call* libmariadb_connection::inline_caller() const {
    runtime::inline_call* const caller = monitor_ ? monitor_->inline_caller() : nullptr;
    return caller && caller->waits() ? caller : nullptr;
}

/// Waits for the answer on the calling thread. Returns false if no answer came in time, or if the
/// wait was interrupted. If the result is false, the call waits through Asio.
bool libmariadb_connection::wait_outside(runtime::inline_call& caller) {
    if (!wait_.prepare())
        return false;
    bool came = false;
    const duration timeout = limit_ - home_.time.now();
    caller.run_outside(wait_, [this, &came, timeout]() noexcept {
        came = wait_.until_readable(socket_.number(), timeout);
    });
    return came;
}

/// Starts to wait until the socket is readable. During a call, a readable socket means that an
/// answer has come. Otherwise it means that the server has closed the connection. At most one such
/// wait runs at a time.
void libmariadb_connection::watch() {
    if (watching_ || !socket_.is_open() || !can_be_watched())
        return;
    auto seen = [weak = weak_from_this(), number = ++watch_number_](error_code) {
        const auto self = weak.lock();
        if (!self || self->watch_number_ != number)
            return; // this wait was stopped
        self->watching_ = false;
        self->readable();
    };
    watching_ = true;
    socket_.async_wait(own_socket::wait_type::wait_read, seen);
}

/// Registers the socket with Asio. If that fails, cuts the connection and returns false.
bool libmariadb_connection::can_be_watched() {
    const error_code failed = socket_.introduce();
    if (failed)
        cut({errc::outcome_unknown, "its socket cannot be watched: " + failed.message()});
    return !failed;
}

void libmariadb_connection::stop_watching() {
    ++watch_number_;
    watching_ = false;
    socket_.leave_asio();
}

void libmariadb_connection::readable() {
    if (busy_)
        return resume();
    if (cut_ || !socket_.is_open())
        return;
    if (!has_ended())
        watch(); // another read took the data that ended this wait
    if (cut_ && on_lost)
        std::exchange(on_lost, {})();
}

void libmariadb_connection::resume() {
    if (!waiter_)
        return;
    asio::any_completion_handler<void()> taken;
    taken.swap(waiter_);
    std::move(taken)();
}

bool libmariadb_connection::has_ended() noexcept {
    if (!cut_ && says_something())
        cut({errc::unreachable, "closed by the server"});
    return is_cut();
}

/// Returns whether the idle connection has received data or has ended. A server sends data without
/// a request only to say why it closes the connection.
bool libmariadb_connection::says_something() const noexcept {
    char any = 0;
    const ssize_t got = ::recv(handle_.socket(), &any, 1, MSG_PEEK | MSG_DONTWAIT);
    return got >= 0 || (errno != EAGAIN && errno != EINTR);
}

void libmariadb_connection::throw_lost(bool may_have_arrived) const {
    const bool says_other = may_have_arrived ? cut_->code() == errc::unreachable
                                             : cut_->code() == errc::outcome_unknown;
    const errc instead = may_have_arrived ? errc::outcome_unknown : errc::unreachable;
    throw net::failure{says_other ? make_error_code(instead) : cut_->code(), cut_->text()};
}

void libmariadb_connection::cut(net::failure why) noexcept {
    if (cut_)
        return;
    cut_.emplace(std::move(why));
    if (busy_)
        handle_.shut_down();
    else
        release();
}

void libmariadb_connection::end() noexcept {
    if (!cut_ && !busy_) {
        cut_.emplace(errc::unreachable, "it was not needed any more");
        socket_.close();
        handle_.say_goodbye();
    }
    cut({errc::unreachable, "it was not needed any more"});
}

void libmariadb_connection::release() noexcept {
    socket_.close();
    handle_ = handle{};
}

namespace {

int another_of(int socket) {
    const int made = ::fcntl(socket, F_DUPFD_CLOEXEC, 0);
    if (made < 0)
        throw net::failure{errc::unreachable, std::string{"its socket cannot be duplicated: "} +
                                                  std::generic_category().message(errno)};
    return made;
}

} // namespace

own_socket::own_socket(const asio::any_io_executor& executor, int theirs)
    : number_{another_of(theirs)}
    , waits_{executor} {}

error_code own_socket::introduce() {
    error_code failed;
    if (!asio_knows_it())
        waits_.assign(number_, failed);
    return failed;
}

void own_socket::leave_asio() noexcept {
    if (asio_knows_it())
        (void)waits_.release();
}

void own_socket::close() noexcept {
    leave_asio();
    if (is_open())
        ::close(std::exchange(number_, -1));
}

} // namespace holdfast::mysql
