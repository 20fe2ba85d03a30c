// SPDX-License-Identifier: Apache-2.0
#include "mysql/dialler.hpp"

#include "mysql/classify.hpp"
#include "mysql/library.hpp"
#include "net/address.hpp"
#include "runtime/thread.hpp"
#include "runtime/wipe.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <mysql.h>

namespace holdfast::mysql {
namespace {

/// Login plug-ins for connections without TLS. None of them sends the password in clear text, and
/// none asks the user for input.
constexpr const char* safe_ways_to_log_in =
    "mysql_native_password,caching_sha2_password,client_ed25519,sha256_password,parsec";
/// Login plug-ins for TLS and unix sockets. They may send the password in clear text, because the
/// server is verified or local.
constexpr const char* ways_over_tls =
    "mysql_native_password,caching_sha2_password,client_ed25519,sha256_password,parsec,"
    "mysql_clear_password";

unsigned in_whole_seconds(duration length) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(length).count();
    return static_cast<unsigned>(std::clamp<std::int64_t>(seconds, 1, 24 * 3600));
}

void set_flag(MYSQL* on, mysql_option which, bool value) {
    const my_bool as_it_wants = value ? 1 : 0;
    mysql_optionsv(on, which, &as_it_wants);
}

void set_number(MYSQL* on, mysql_option which, unsigned value) {
    mysql_optionsv(on, which, &value);
}

void set_text(MYSQL* on, mysql_option which, const std::string& value) {
    if (!value.empty())
        mysql_optionsv(on, which, value.c_str());
}

void set_tls(MYSQL* on, const tls_options& how) {
    set_flag(on, MYSQL_OPT_SSL_ENFORCE, true);
    set_flag(on, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, !how.insecure_skip_verification);
    mysql_optionsv(on, MARIADB_OPT_TLS_VERSION, "TLSv1.2,TLSv1.3");
    set_text(on, MYSQL_OPT_SSL_CA, how.ca_file);
    set_text(on, MYSQL_OPT_SSL_CERT, how.certificate_file);
    set_text(on, MYSQL_OPT_SSL_KEY, how.key_file);
    if (!how.key_password.empty()) {
        std::string text{how.key_password.reveal()};
        mysql_optionsv(on, MARIADB_OPT_TLS_PASSPHRASE, text.c_str());
        runtime::wipe(text);
    }
}

void set_options(MYSQL* on, const door& to) {
    mysql_optionsv(on, MYSQL_OPT_NONBLOCK, nullptr);
    set_number(on, MYSQL_OPT_PROTOCOL,
               to.unix_socket.empty() ? MYSQL_PROTOCOL_TCP : MYSQL_PROTOCOL_SOCKET);
    const unsigned seconds = in_whole_seconds(to.limit);
    set_number(on, MYSQL_OPT_CONNECT_TIMEOUT, seconds);
    set_number(on, MYSQL_OPT_READ_TIMEOUT, seconds);
    set_number(on, MYSQL_OPT_WRITE_TIMEOUT, seconds);
    set_number(on, MYSQL_OPT_LOCAL_INFILE, 0);
    mysql_optionsv(on, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    mysql_optionsv(on, MARIADB_OPT_RESTRICTED_AUTH,
                   to.tls || !to.unix_socket.empty() ? ways_over_tls : safe_ways_to_log_in);
    mysql_optionsv(on, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name",
                   to.label.empty() ? "holdfast" : to.label.c_str());
    set_text(on, MYSQL_SERVER_PUBLIC_KEY, to.server_key_file);
    if (to.tls)
        set_tls(on, *to.tls);
}

struct connected {
    handle made{};
    std::optional<net::failure> failed{};
};

void set_socket(int fd) {
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    // a blocking socket would make reads over TLS block
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/// Connects and logs in. Runs on a separate thread, because libmariadb may block.
connected connect(const door& to) {
    connected come;
    come.made = handle{mysql_init(nullptr)};
    MYSQL* const raw = come.made.get();
    if (!raw) {
        come.failed.emplace(errc::unreachable, "no memory for a connection");
        return come;
    }
    set_options(raw, to);
    const bool by_socket = !to.unix_socket.empty();
    // A null password would make the library read MYSQL_PWD.
    std::string password{to.who.password.reveal()};
    const MYSQL* const done = mysql_real_connect(
        raw, by_socket ? nullptr : to.where.host.c_str(), to.who.user.c_str(), password.c_str(),
        to.schema.c_str(), to.where.port ? to.where.port : usual_port,
        by_socket ? to.unix_socket.c_str() : nullptr, CLIENT_FOUND_ROWS);
    runtime::wipe(password);
    if (done)
        set_socket(come.made.socket());
    else {
        const std::string words = come.made.words();
        come.failed =
            failure_of(classify_connecting(come.made.error(), words), come.made.error(), words);
        come.made = handle{};
    }
    return come;
}

/// State that the executor and the thread that connects share.
class exchange_place {
public:
    exchange_place(asio::any_io_executor where, alarm& wake)
        : executor_{std::move(where)}
        , wake_{&wake} {}

    /// Passes the result to the executor. Called on the thread that connects. Closes the connection
    /// if the caller has given up.
    static void deliver(const std::shared_ptr<exchange_place>& self, connected come) {
        const std::scoped_lock guard{self->mutex_};
        if (!self->executor_)
            return;
        self->come_ = std::move(come);
        // The context of `executor_` exists while `executor_` is set. It may be destroyed after
        // `abandon`.
        asio::post(*self->executor_, [self] { self->ring(); });
    }

    std::optional<connected> take() {
        const std::scoped_lock guard{mutex_};
        return std::exchange(come_, std::nullopt);
    }

    void abandon() {
        wake_ = nullptr;
        std::optional<asio::any_io_executor> dropped;
        const std::scoped_lock guard{mutex_};
        dropped.swap(executor_);
    }

private:
    void ring() {
        if (wake_)
            wake_->ring();
    }

    std::mutex mutex_;
    std::optional<asio::any_io_executor> executor_; // empty: the caller has given up
    std::optional<connected> come_;
    alarm* wake_; // used only on the executor
};

class interest {
public:
    explicit interest(std::shared_ptr<exchange_place> in)
        : in_{std::move(in)} {}
    interest(const interest&) = delete;
    ~interest() { in_->abandon(); }

private:
    const std::shared_ptr<exchange_place> in_;
};

std::string address_of(const door& to) {
    return net::address_of(to.unix_socket, to.where.host,
                           to.where.port ? to.where.port : usual_port);
}

} // namespace

asio::awaitable<handle> dial(const store_context& home, door to, time_point give_up_at, alarm& wake,
                             std::function<bool()> given_up) {
    const std::string address = address_of(to);
    const duration limit = to.limit;
    const auto place = std::make_shared<exchange_place>(home.executor, wake);
    const interest mine{place};
    auto work = [place, to = std::move(to)] {
        const inside_library meanwhile;
        mysql_thread_init();
        exchange_place::deliver(place, connect(to));
        mysql_thread_end();
    };
    runtime::start_thread(std::move(work)).detach();
    for (;;) {
        if (std::optional<connected> come = place->take()) {
            if (come->failed)
                throw net::failure{come->failed->code(),
                                   "connecting to " + address + ": " + come->failed->text()};
            co_return std::move(come->made);
        }
        if (given_up())
            throw net::failure{errc::closed, "the client is closed"};
        if (home.time.now() >= give_up_at)
            throw net::failure{errc::unreachable, "no connection to " + address + " within " +
                                                      std::to_string(limit.count()) + " ms"};
        co_await wake.wait_until(give_up_at);
    }
}

} // namespace holdfast::mysql
