// SPDX-License-Identifier: Apache-2.0
// A store's requests without a server.
#pragma once

#include "net/failure.hpp"
#include "store/mysql/request_context.hpp"
#include "support/sim_clock.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::mysql {

using namespace std::chrono_literals;

class one_connection final : public pinned_connection {
public:
    bool is_cut() const noexcept override { return false; }
    void cut() noexcept override {}
};

/// Answers each statement with its number, counted from the first of all.
class answering_database final : public database {
public:
    asio::awaitable<answers> run(statements& what, call_options options) override {
        sent.push_back(what.compose(clock, of_server));
        with.push_back(options);
        undone.push_back(options.undo ? *options.undo : "");
        if (refuses)
            if (const auto why = refuses(sent.back()))
                throw net::failure{*why, "refused"};
        answers said;
        for (std::size_t i = 0; i < std::min(sent.back().size(), answers_most); ++i) {
            ++number;
            said.of.push_back({.matched = number, .insert_id = number});
        }
        said.by = line;
        co_return said;
    }
    asio::awaitable<std::shared_ptr<pinned_connection>> connection_to_wait_on(time_point) override {
        co_return nullptr;
    }
    std::optional<server_facts> facts() const override { return of_server; }
    bool has_bells() const override { return wakeup_locks; }
    void no_bells_here() noexcept override { wakeup_locks = false; }
    duration command_timeout() const noexcept override { return 1s; }
    std::string address() const override { return "a"; }
    void close() noexcept override {}

    server_facts of_server;
    runtime::remote_clock clock;
    std::shared_ptr<pinned_connection> line = std::make_shared<one_connection>();
    std::vector<std::vector<std::string>> sent;
    std::vector<call_options> with;
    std::vector<std::string> undone; ///< their `undo`
    std::function<std::optional<error_code>(const std::vector<std::string>&)> refuses;
    std::size_t answers_most = 100;
    std::uint64_t number = 0;
    bool wakeup_locks = false;
};

class on_answering_database : public ::testing::Test {
protected:
    template <typename T>
    T run(asio::awaitable<T> call) {
        T got{};
        std::exception_ptr failed;
        asio::co_spawn(io_, std::move(call), [&](const std::exception_ptr& why, T said) {
            failed = why;
            got = std::move(said);
        });
        io_.restart();
        io_.run();
        if (failed)
            std::rethrow_exception(failed);
        return got;
    }

    asio::io_context io_;
    sim::sim_clock clock_{io_};
    const store_context home_{
        .executor = io_.get_executor(), .time = clock_, .random = {}, .label = {}, .tell = {}};
    answering_database server_;
    request_context at_{.server = server_,
                        .context = home_,
                        .named = tables{"t"},
                        .schema = {},
                        .table = {},
                        .info = {}};
};

} // namespace holdfast::mysql
