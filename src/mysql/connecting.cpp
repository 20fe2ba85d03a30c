// SPDX-License-Identifier: Apache-2.0
#include "mysql/connecting.hpp"

#include "mysql/libmariadb_connection.hpp"
#include "mysql/server_answers.hpp"
#include "net/deadlines.hpp"
#include "net/endpoint.hpp"
#include "runtime/process.hpp"
#include "runtime/secret.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <mysql.h>

namespace holdfast::mysql {
namespace {

/// Login plug-ins for connections without TLS. None of these plug-ins sends the password in clear
/// text or asks the user for input.
constexpr const char* safe_ways_to_log_in =
    "mysql_native_password,caching_sha2_password,client_ed25519,sha256_password,parsec";
/// Login plug-ins for TLS and unix sockets. These plug-ins may send the password in clear text.
/// This is safe, because the server's certificate was verified, or the server is on the same
/// machine.
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
    // Make the socket non-blocking. Otherwise reads over TLS would block.
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
    // Pass an empty string and not a null pointer: for a null pointer, libmariadb would read the
    // password from the variable MYSQL_PWD.
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

/// State that the executor and the connecting thread share.
class exchange_place {
public:
    exchange_place(asio::any_io_executor where, alarm& wake)
        : executor_{std::move(where)}
        , wake_{&wake} {}

    /// Passes the result to the caller on its executor. Called on the connecting thread. If the
    /// caller no longer waits, closes the new connection.
    static void deliver(const std::shared_ptr<exchange_place>& self, connected come) {
        const std::scoped_lock guard{self->mutex_};
        if (!self->executor_)
            return;
        self->come_ = std::move(come);
        // It is safe to use the executor while `executor_` is set, because its execution context
        // still exists. `abandon()` clears `executor_`; after that, the context may be destroyed.
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
    std::optional<asio::any_io_executor> executor_; // empty: the caller has stopped waiting
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

namespace {

/// Minimum of the session variable `wait_timeout`. After a session was idle for this time, the
/// server closes it.
constexpr std::chrono::seconds idle_least{60};

std::string session_settings(duration keep_alive) {
    const auto idle = std::max(std::chrono::ceil<std::chrono::seconds>(3 * keep_alive), idle_least);
    // Reasons for the settings:
    // - time_zone: it is +00:00, because in a local time zone one hour occurs twice each autumn.
    // - sql_mode: without strict mode the server truncates a long name, and two locks become one.
    // - completion_type: chained transactions would leave a transaction open after each request.
    // - innodb_lock_wait_timeout: the server must answer before the request's deadline.
    //   MySQL checks the timeout once a second, and an attempt to read may wait twice.
    // - lock_wait_timeout: a wait for a table lock must also end before the request's deadline.
    // - sql_select_limit: without the rows that a limit omits, holds would seem to be lost.
    // - sql_safe_updates: it would refuse statements that change no row.
    // - max_statement_time, max_execution_time: they would end a wait in GET_LOCK.
    //   MariaDB reads only the first of the two comments below, and MySQL only the second.
    return "SET time_zone='+00:00',autocommit=1,sql_mode='STRICT_ALL_TABLES',completion_type=0,"
           "innodb_lock_wait_timeout=1,lock_wait_timeout=1,sql_safe_updates=0,"
           "sql_select_limit=18446744073709551615/*M!,max_statement_time=0*/"
           "/*!50708,max_execution_time=0*/,wait_timeout=" +
           std::to_string(idle.count());
}

constexpr const char* isolation =
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE";

// Use SHOW instead of SELECT @@variable. Some proxies share each server connection among several
// clients, and stop sharing the connection after SELECT @@variable.
constexpr const char* session_question = "SHOW SESSION VARIABLES WHERE Variable_name IN "
                                         "('autocommit','completion_type','sql_mode','time_zone')";
constexpr const char* global_question =
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN "
    "('version','read_only','super_read_only','innodb_read_only','wsrep_on','binlog_format',"
    "'group_replication_group_name','group_replication_single_primary_mode',"
    "'innodb_flush_log_at_trx_commit','sql_mode','max_user_connections','wait_timeout',"
    "'server_uuid','hostname','port','server_id','datadir')";
constexpr const char* status_question = "SHOW GLOBAL STATUS WHERE Variable_name IN "
                                        "('Slaves_running','Slave_running','wsrep_ready','Uptime')";
/// Asks for the server's clock. Also asks whether SYSDATE() returns the time at which the statement
/// started; to find out, the statement must run for some microseconds. BENCHMARK makes it run that
/// long. SLEEP is not used, because it hangs while the system date is being changed.
constexpr const char* clock_question =
    "SELECT UNIX_TIMESTAMP(SYSDATE(6)),BENCHMARK(100,SHA2('holdfast',256)),SYSDATE(6)=NOW(6)";

void require_success(const std::vector<statement_answer>& all) {
    for (const statement_answer& one : all)
        if (one.what.error != 0)
            throw failure_of(classify_connecting(one.what.error, one.what.words), one.what.error,
                             one.what.words);
}

const std::string* cell(const result& of, std::size_t column) {
    if (of.rows.size() != 1 || of.rows[0].size() <= column || !of.rows[0][column])
        return nullptr;
    return &*of.rows[0][column];
}

/// Parses a Unix time with fraction, for example "1795618060.751786".
std::optional<std::chrono::microseconds> seconds_in(const std::string& text) {
    const auto point = text.find('.');
    std::int64_t seconds = 0;
    const char* const end = text.data() + std::min(point, text.size());
    if (std::from_chars(text.data(), end, seconds).ptr != end)
        return std::nullopt;
    std::string fraction = point == text.npos ? "" : text.substr(point + 1);
    fraction.resize(6, '0');
    std::int64_t micros = 0;
    std::from_chars(fraction.data(), fraction.data() + fraction.size(), micros);
    return std::chrono::seconds{seconds} + std::chrono::microseconds{micros};
}

/// Reads the answers to the last three statements in `all`. Every set-up and every keep-alive of a
/// connection ends with these three statements.
server_info read(server_connection& on, const std::vector<statement_answer>& all) {
    const std::size_t first = all.size() - 3;
    const result& time = all[first + 2].what;
    const std::string* const shown = cell(time, 0);
    const std::string* const same = cell(time, 2);
    const auto now = shown ? seconds_in(*shown) : std::nullopt;
    if (!now || !same)
        throw net::failure{store_errc::protocol, "the server did not return its time"};
    on.clock()->learn(on.sent_at(), on.heard_at(), *now);
    return server_info_of(variables_in(all[first].what), variables_in(all[first + 1].what),
                          *same == "1");
}

/// Asks a server whether it is a replica. Asks nothing if the server's status variables have
/// already shown this. The server may refuse some of the statements.
asio::awaitable<void> ask_for_role(server_connection& on, server_info& found, time_point limit) {
    if (!found.facts.role_is_unknown)
        co_return;
    const std::vector<std::string> all{replica_questions.begin(), replica_questions.end()};
    std::vector<statement_answer> answers = co_await on.ask(all, limit);
    std::vector<result> told;
    told.reserve(answers.size());
    for (statement_answer& each : answers)
        told.push_back(std::move(each.what));
    judge_role(found.facts, told);
}

} // namespace

asio::awaitable<server_info> set_up(server_connection& on, duration keep_alive, time_point limit) {
    const std::vector<std::string> all{session_settings(keep_alive),
                                       isolation,
                                       session_question,
                                       global_question,
                                       status_question,
                                       clock_question};
    const std::vector<statement_answer> answers = co_await on.ask(all, limit);
    require_success(answers);
    if (const auto objection = objection_to_session(variables_in(answers[2].what)))
        throw net::failure{*objection};
    server_info found = read(on, answers);
    co_await ask_for_role(on, found, limit);
    if (const auto objection = objection_to(found))
        throw net::failure{*objection};
    co_return found;
}

asio::awaitable<server_info> look_again(server_connection& on, time_point limit) {
    const std::vector<std::string> all{global_question, status_question, clock_question};
    const std::vector<statement_answer> answers = co_await on.ask(all, limit);
    require_success(answers);
    server_info found = read(on, answers);
    co_await ask_for_role(on, found, limit);
    if (const auto objection = objection_to(found))
        throw net::failure{*objection};
    co_return found;
}

/// One attempt to connect. `close` can end the attempt.
class libmariadb_factory::dial_attempt {
public:
    explicit dial_attempt(libmariadb_factory& at)
        : at_{at}
        , wake_{at.home_.time.make_alarm()} {
        at_.under_way_.push_back(this);
    }
    dial_attempt(const dial_attempt&) = delete;
    ~dial_attempt() { std::erase(at_.under_way_, this); }

    alarm& wake() { return *wake_; }
    void dialled(const std::shared_ptr<libmariadb_connection>& made) { made_ = made; }

    void give_up() {
        wake_->ring();
        if (made_)
            made_->cut({errc::closed, "the client is closed"});
    }

private:
    libmariadb_factory& at_;
    const std::unique_ptr<alarm> wake_;
    std::shared_ptr<libmariadb_connection> made_;
};

libmariadb_factory::libmariadb_factory(const store_context& home, const options& how)
    : home_{home}
    , how_{how} {}

asio::awaitable<introduced> libmariadb_factory::make(const server_address& where,
                                                     time_point give_up_at) {
    const std::string address = address_of(where);
    dial_attempt mine{*this};
    door to = door_to(where);
    std::function<bool()> given_up = [this] { return closed_; };
    handle dialled =
        co_await dial(home_, std::move(to), give_up_at, mine.wake(), std::move(given_up));
    const auto made = std::make_shared<libmariadb_connection>(home_, std::move(dialled));
    mine.dialled(made);
    std::function<void()> late = [weak = std::weak_ptr{made}, address] {
        if (const auto here = weak.lock())
            here->cut({errc::unreachable,
                       address + " stopped replying while the client connected to it"});
    };
    const net::time_limit bound{home_, give_up_at, std::move(late)};
    std::optional<net::failure> failed;
    introduced all{made, {}};
    try {
        all.who = co_await set_up(*made, how_.keep_alive, give_up_at);
    } catch (const net::failure& why) {
        failed = why;
    }
    if (failed) {
        made->end();
        const error_code code = failed->code() == errc::outcome_unknown
                                    ? make_error_code(errc::unreachable)
                                    : failed->code();
        throw net::failure{code, address + ": " + failed->text()};
    }
    all.who.facts.address = address;
    all.who.facts.over_tls = made->over_tls();
    co_return all;
}

std::string libmariadb_factory::address_of(const server_address& where) const {
    return net::address_of(how_.unix_socket, where.host, where.port ? where.port : usual_port);
}

door libmariadb_factory::door_to(const server_address& where) const {
    const credentials fixed{how_.user, how_.password};
    return {.where = where,
            .unix_socket = how_.unix_socket,
            .schema = how_.schema,
            .who = net::credentials_now(fixed, how_.credentials),
            .tls = how_.tls,
            .server_key_file = how_.server_key_file,
            .label = home_.label,
            .limit = how_.connect_timeout};
}

void libmariadb_factory::close() noexcept {
    if (std::exchange(closed_, true))
        return;
    for (dial_attempt* const each : under_way_)
        each->give_up();
}

} // namespace holdfast::mysql
