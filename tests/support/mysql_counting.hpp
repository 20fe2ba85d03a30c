// SPDX-License-Identifier: Apache-2.0
// MySQL store whose requests about locks are counted like those of other stores.
#pragma once

#include "mysql/make_database.hpp"
#include "store/mysql/mysql_store.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::support {

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
