// SPDX-License-Identifier: Apache-2.0
#include "conformance/store_under_test.hpp"
#include "mysql/database.hpp"
#include "store/mysql/mysql_store.hpp"
#include "store/mysql/sql.hpp"
#include "support/mariadb_server.hpp"
#include "support/stream_proxy.hpp"

#include <holdfast/mysql/options.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::support {

// MySQL store whose requests about locks are counted like those of other stores.

/// Numbers of requests that the clients of a store have sent.
struct mysql_traffic {
    std::atomic<std::size_t> requests = 0;
    std::atomic<std::size_t> polled = 0; ///< number of waiters in the last poll
    std::atomic<std::chrono::steady_clock::time_point> polled_at{};

    /// Returns the number of waiters that poll now. A waiter that has left is not counted.
    std::size_t polling() const {
        constexpr std::chrono::milliseconds longest_pause{400};
        const auto since = std::chrono::steady_clock::now() - polled_at.load();
        return since < longest_pause ? polled.load() : 0;
    }
};

/// Database that counts each attempt, release, renewal and question once. It does not count polls,
/// notifications of waiters, and the INSERT of the row of a new name.
class counting_database final : public mysql::database {
public:
    counting_database(std::unique_ptr<mysql::database> inner, mysql_traffic& count)
        : inner_{std::move(inner)}
        , count_{count} {}

    asio::awaitable<mysql::answers> run(mysql::statements& what, mysql::call_options how) override {
        listener heard{what, how.leaves_open ? nullptr : &count_};
        co_return co_await inner_->run(heard, std::move(how));
    }
    asio::awaitable<std::shared_ptr<mysql::pinned_connection>>
    connection_to_wait_on(time_point limit) override {
        return inner_->connection_to_wait_on(limit);
    }
    std::optional<mysql::server_facts> facts() const override { return inner_->facts(); }
    bool has_bells() const override { return inner_->has_bells(); }
    void no_bells_here() noexcept override { inner_->no_bells_here(); }
    duration command_timeout() const noexcept override { return inner_->command_timeout(); }
    std::string address() const override { return inner_->address(); }
    void close() noexcept override { inner_->close(); }

private:
    class listener final : public mysql::statements {
    public:
        listener(mysql::statements& of, mysql_traffic* count)
            : of_{of}
            , count_{count} {}
        std::vector<std::string> compose(const runtime::remote_clock& clock,
                                         const mysql::server_facts& facts) override {
            std::vector<std::string> all = of_.compose(clock, facts);
            if (count_)
                note(all.front());
            return all;
        }

    private:
        void note(const std::string& first) {
            count_->requests += change_by(first);
            if (first.find(" FROM DUAL WHERE ") == std::string::npos)
                return;
            std::size_t waiters = 0;
            for (std::size_t at = first.find(" FROM DUAL"); at != std::string::npos;
                 at = first.find(" FROM DUAL", at + 1))
                ++waiters;
            count_->polled = waiters;
            count_->polled_at = std::chrono::steady_clock::now();
        }
        static std::size_t change_by(const std::string& first) {
            const auto begins = [&first](const char* with) { return first.starts_with(with); };
            // this INSERT makes the row of a new name, and the attempt is then repeated: subtract
            // one
            if (begins("INSERT INTO `holdfast_lock` "))
                return static_cast<std::size_t>(-1);
            const bool sees = begins("SELECT GET_LOCK") || begins("SELECT RELEASE_LOCK") ||
                              begins("SELECT id,") ||
                              first.find(" FROM DUAL WHERE ") != std::string::npos;
            return sees ? 0 : 1;
        }

        mysql::statements& of_;
        mysql_traffic* const count_;
    };

    const std::unique_ptr<mysql::database> inner_;
    mysql_traffic& count_;
};

/// `count` must outlive all clients of the store.
inline store_factory counting_store(mysql::options how, mysql_traffic& count) {
    return [how = std::move(how), &count](store_context context) -> std::unique_ptr<store> {
        auto server =
            std::make_unique<counting_database>(mysql::make_database(how, context), count);
        return std::make_unique<mysql::mysql_store>(std::move(server), how, std::move(context));
    };
}

} // namespace holdfast::support

namespace holdfast::conformance {
namespace {

const mysql::tables named{"holdfast_lock"};

/// An owner that cannot be a holdfast client, neither by its UUID nor by its number.
const std::string stranger_in_rows = mysql::hex("8743c9c0-0795-4907-87fd-6c719a6b4586:1");

std::string interval(duration length) {
    return "INTERVAL " + std::to_string(std::chrono::microseconds{length}.count()) + " MICROSECOND";
}

/// To start one takes longer than a test: all of a process share it.
support::mariadb_server& shared_mariadb() {
    static std::unique_ptr<support::mariadb_server> server;
    if (!server) {
        server = std::make_unique<support::mariadb_server>();
        for (const std::string& each : mysql::making(named))
            server->sql(each);
    }
    if (server->is_up())
        server->resume();
    else
        server->start();
    return *server;
}

class mysql_under_test final : public store_under_test {
public:
    mysql_under_test()
        : server_{shared_mariadb()} {
        forget_all();
    }
    ~mysql_under_test() override {
        if (server_.is_up())
            server_.resume();
    }

    void reach(options& how) override {
        how.store = support::counting_store(at(server_.socket_path()), count_);
    }
    void reach_badly(options& how) override {
        if (!wire_)
            wire_.emplace(server_.socket_path());
        mysql::options bad = at(wire_->socket_path());
        bad.command_timeout = bad_way_timeout;
        how.store = support::counting_store(std::move(bad), count_);
    }
    void lose_answer_about(const std::string& name) override {
        wire_->lose_answer_to("name=" + mysql::hex(name));
    }

    /// All ends come nearer: the server's own timed waits end by its date, which is not moved.
    void pass(duration by) override {
        if (frozen_ || !server_.is_up()) {
            owed_ += by;
            return;
        }
        for (const std::string& table : {named.locks, named.holds, named.counters, named.requests})
            change("UPDATE " + table + " SET expires=expires-" + interval(by));
    }
    void restart_empty() override {
        forget_all();
        server_.restart();
    }
    void stop_answering() override { server_.stop(); }
    void freeze() override {
        server_.pause();
        frozen_ = true;
    }
    void thaw() override {
        server_.resume();
        frozen_ = false;
        pass(std::exchange(owed_, duration::zero()));
    }
    /// The lock is gone, with all who hold it. Who waits for it keeps its turn, as in a queue that
    /// has a key of its own.
    void evict(const std::string& name) override {
        for (const std::string& table : {named.locks, named.counters, named.requests})
            change("DELETE FROM " + table + where(name));
        change("DELETE FROM " + named.holds + where(name) + " AND kind<>3");
    }

    void stranger_takes(const std::string& name, duration lease) override {
        evict(name);
        holds(name, 0, lease);
    }
    void stranger_sets_token(const std::string&, std::optional<duration>) override {}
    void stranger_releases(const std::string& name) override { evict(name); }
    void stranger_queues(const std::string& name) override {
        change("INSERT INTO " + named.holds + " (name,kind,owner,expires,token) VALUES(" +
               mysql::hex(name) + ",3," + stranger_in_rows +
               ",UTC_TIMESTAMP(6)+INTERVAL 300 SECOND,1)");
    }
    void stranger_shares(const std::string& name, lock_kind side, duration lease) override {
        if (side == lock_kind::write) {
            evict(name);
            return holds(name, 1, lease);
        }
        change("INSERT INTO " + named.locks + " (name,expires) VALUES(" + mysql::hex(name) +
               ",UTC_TIMESTAMP(6)) ON DUPLICATE KEY UPDATE name=name");
        change("INSERT INTO " + named.holds + " (name,kind,owner,expires) VALUES(" +
               mysql::hex(name) + ",0," + stranger_in_rows + ",UTC_TIMESTAMP(6)+" +
               interval(lease) + ")");
    }

    void stranger_adds(const std::string& name, std::int64_t permits) override {
        const std::string much = std::to_string(permits);
        change("INSERT INTO " + named.counters + " (name,kind,value) VALUES(" + mysql::hex(name) +
               ",1," + much + ") ON DUPLICATE KEY UPDATE value=value+" + much);
    }
    void stranger_takes_permit(const std::string& name, duration lease) override {
        change("INSERT INTO " + named.holds + " (name,kind,owner,expires) VALUES(" +
               mysql::hex(name) + ",2,'0123456789abcdef',UTC_TIMESTAMP(6)+" + interval(lease) +
               ")");
    }
    void stranger_counts_down(const std::string& name) override {
        change("UPDATE " + named.counters + " SET value=value-1" + where(name) + " AND kind=2");
        change("DELETE FROM " + named.counters + where(name) + " AND kind=2 AND value<=0");
    }
    std::optional<std::int64_t> counter(const std::string& name) override {
        const std::string value = server_.value(
            "SELECT value-(SELECT COUNT(*) FROM " + named.holds + " AS h" + where(name) +
            " AND kind=2 AND expires>UTC_TIMESTAMP(6)) FROM " + named.counters + where(name));
        if (value.empty())
            return std::nullopt;
        return std::stoll(value);
    }

    bool counts_listeners() const override { return false; }
    bool tells_who_listens() const override { return false; }
    bool moves_its_clock() const override { return false; }
    bool counts_tokens() const override { return false; }
    bool has_wishes() const override { return false; }
    std::size_t name_bytes_max() const override { return 255; }

    std::size_t held() override {
        const std::string alive = " WHERE expires>UTC_TIMESTAMP(6)";
        return std::stoul(server_.value("SELECT COUNT(*) FROM (SELECT name FROM " + named.locks +
                                        alive + " UNION SELECT name FROM " + named.holds + alive +
                                        " AND kind=0) AS held"));
    }
    std::size_t waiting(const std::string& name) override {
        return std::stoul(
            server_.value("SELECT COUNT(*) FROM " + named.holds + where(name) + " AND kind=3"));
    }
    std::size_t listeners() override {
        return count_.polling() +
               std::stoul(server_.value("SELECT COUNT(*) FROM information_schema.processlist "
                                        "WHERE STATE='User lock'"));
    }
    std::size_t requests() override { return count_.requests; }
    bool put_something_else(const std::string&) override { return false; }

private:
    static std::string where(const std::string& name) { return " WHERE name=" + mysql::hex(name); }

    static mysql::options at(const std::string& socket) {
        mysql::options how;
        how.unix_socket = socket;
        how.schema = support::mariadb_server::schema;
        how.user = support::mariadb_server::user;
        how.password = secret{support::mariadb_server::password};
        return how;
    }

    void change(const std::string& statement) { server_.sql(statement); }

    void forget_all() {
        for (const std::string& table : {named.locks, named.holds, named.counters, named.requests})
            change("DELETE FROM " + table);
    }

    void holds(const std::string& name, int kind, duration lease) {
        change("INSERT INTO " + named.locks + " (name,owner,kind,expires,token) VALUES(" +
               mysql::hex(name) + "," + stranger_in_rows + "," + std::to_string(kind) +
               ",UTC_TIMESTAMP(6)+" + interval(lease) + ",1)");
    }

    support::mariadb_server& server_;
    std::optional<support::stream_proxy> wire_;
    support::mysql_traffic count_;
    bool frozen_ = false;
    duration owed_{}; ///< time that passed while nothing could be asked
};

} // namespace

store_kind mysql_server() {
    return {.label = "mariadb",
            .make = [] { return std::make_unique<mysql_under_test>(); },
            .without = {lock_kind::spin, lock_kind::token},
            .uncounted = {counter_kind::semaphore, counter_kind::rate}};
}

} // namespace holdfast::conformance
