// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/connection_pool.hpp"
#include "support/recorder.hpp"
#include "support/sim_clock.hpp"
#include "support/thrown.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast::mysql {

/// A connection that answers when the test says so, or at once.
class model_line final : public server_connection {
public:
    model_line(holdfast::clock& time, bool answers)
        : answers_at_once{answers}
        , time_{time}
        , wake_{time.make_alarm()}
        , heard_at_{time.now()} {}

    asio::awaitable<std::vector<statement_answer>> ask(const std::vector<std::string>& all,
                                                       time_point limit) override {
        asked.push_back(all);
        limit_ = limit;
        sent_at_ = time_.now();
        busy_ = true;
        answered_ = false;
        while (!answers_at_once && !answered_ && !cut_)
            co_await wake_->wait_until(time_point::max());
        busy_ = false;
        limit_ = time_point::max();
        if (cut_)
            throw net::failure{*cut_};
        heard_at_ = time_.now();
        std::vector<statement_answer> told =
            next ? *std::exchange(next, std::nullopt)
                 : std::vector<statement_answer>(all.size(), clock_answer());
        for (std::size_t i = 0; i < std::min(all.size(), told.size()); ++i)
            if (all[i].starts_with("SHOW GLOBAL STATUS") && told[i].what.error == 0)
                told[i].what.rows = {{"Slaves_running", "0"}}; // it is a primary
        open_ = told.back().open;
        co_return told;
    }
    time_point limit() const override { return limit_; }
    time_point sent_at() const override { return sent_at_; }
    time_point heard_at() const override { return heard_at_; }
    bool transaction_open() const override { return open_; }
    void cut(net::failure why) noexcept override {
        if (!cut_)
            cut_.emplace(std::move(why));
        wake_->ring();
    }
    void end() noexcept override {
        ended = true;
        cut({errc::unreachable, "ended"});
    }
    bool is_cut() const override { return cut_.has_value(); }
    const net::failure& why() const override { return *cut_; }
    bool has_ended() noexcept override { return is_cut(); }
    const std::shared_ptr<runtime::remote_clock>& clock() const override { return clock_; }

    void answer() {
        answered_ = true;
        wake_->ring();
    }
    void hang_up() {
        cut({errc::unreachable, "closed by the server"});
        if (on_lost)
            std::exchange(on_lost, {})();
    }
    bool is_asked() const { return busy_; }

    std::vector<std::vector<std::string>> asked;
    std::optional<std::vector<statement_answer>> next; ///< instead of what says that all went well
    bool answers_at_once;
    bool ended = false;

private:
    static statement_answer clock_answer() {
        statement_answer one;
        one.what.rows = {{"1795618060.5", "0", "0"}};
        return one;
    }

    holdfast::clock& time_;
    const std::unique_ptr<alarm> wake_;
    const std::shared_ptr<runtime::remote_clock> clock_ = std::make_shared<runtime::remote_clock>();
    std::optional<net::failure> cut_;
    time_point limit_ = time_point::max(), sent_at_{}, heard_at_{};
    bool busy_ = false, answered_ = false, open_ = false;
};

/// Whom the pool meets.
struct model_world {
    std::vector<std::shared_ptr<model_line>> lines;
    std::vector<std::string> tried; ///< hosts, in order
    std::vector<time_point> tried_at;
    std::optional<net::failure> refuses; ///< each attempt
    std::string refuses_only;            ///< that host; empty: all
    bool answers_at_once = true;
    std::string server = "s1";
    bool several_writers = false;
};

class model_maker final : public connection_factory {
public:
    model_maker(const store_context& home, model_world& world)
        : home_{home}
        , world_{world} {}

    asio::awaitable<introduced> make(const server_address& where, time_point) override {
        world_.tried.push_back(where.host);
        world_.tried_at.push_back(home_.time.now());
        const bool meant = world_.refuses_only.empty() || world_.refuses_only == where.host;
        if (world_.refuses && meant)
            throw net::failure{*world_.refuses};
        introduced made;
        auto one = std::make_shared<model_line>(home_.time, world_.answers_at_once);
        world_.lines.push_back(one);
        made.at = one;
        made.who.server = world_.server;
        made.who.uptime = std::chrono::hours{1000};
        made.who.facts.address = where.host;
        made.who.facts.has_several_writers = world_.several_writers;
        co_return made;
    }
    std::string address_of(const server_address& where) const override { return where.host; }
    void close() noexcept override {}

private:
    const store_context& home_;
    model_world& world_;
};

class PoolOnModel : public ::testing::Test {
protected:
    struct asking final : statements {
        std::vector<std::string> compose(const runtime::remote_clock&,
                                         const server_facts&) override {
            ++composed;
            return {text};
        }
        std::string text;
        call_options options{};
        int composed = 0;
        bool done = false;
        answers got{};
        error_code code{};
        std::string why{};
    };
    using asked = std::shared_ptr<asking>;

    PoolOnModel() {
        how_.schema = "s";
        how_.servers = {{"a", 0}};
    }
    ~PoolOnModel() override {
        close();
        settle();
        EXPECT_EQ(clock_.sleepers(), 0u) << "somebody sleeps on";
    }

    class pool& pool() {
        if (!pool_) {
            auto tell = [this](const event& what) { told_.notify(what); };
            store_context home{io_.get_executor(), clock_, [this] { return random_(); }, {}, "test",
                               duration{},         tell};
            home.revalidate = [this](const auto&, bool urgent) { doubts_.push_back(urgent); };
            home.holds_any = [this] { return holds_; };
            const auto make = [this](const store_context& at, const options&) {
                return std::make_unique<model_maker>(at, world_);
            };
            pool_ = std::make_shared<class pool>(how_, std::move(home), make);
        }
        return *pool_;
    }
    void close() {
        if (pool_)
            pool_->close();
        pool_.reset();
    }

    asked ask(std::string text = "q", call_options options = {}) {
        const auto made = std::make_shared<asking>();
        made->text = std::move(text);
        made->options = std::move(options);
        asio::co_spawn(io_, run(pool(), made), [made](const std::exception_ptr& failed) {
            made->done = true;
            const support::thrown thrown = support::thrown_of(failed);
            made->code = thrown.code;
            made->why = thrown.text;
        });
        settle();
        return made;
    }
    void settle() { clock_.run_until(clock_.now()); }
    void pass(duration length) { clock_.run_for(length); }
    model_line& line(std::size_t which = 0) { return *world_.lines.at(which); }

    asio::io_context io_;
    sim::sim_clock clock_{io_};
    options how_;
    model_world world_;
    support::recorder told_;
    std::vector<bool> doubts_;
    bool holds_ = false;
    std::mt19937_64 random_{1};
    std::shared_ptr<class pool> pool_;

private:
    static asio::awaitable<void> run(class pool& on, asked mine) {
        mine->got = co_await on.run(*mine, mine->options);
    }
};

} // namespace holdfast::mysql
