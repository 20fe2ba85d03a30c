// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/stream_proxy.hpp"

#include <holdfast/holdfast.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>

namespace holdfast::chaos {

using namespace std::chrono_literals;
using support::eventually;
using support::soon;
using support::stream_proxy;
using support::thrown_by;
using support::way;

/// A real server, and a way to it on which everything can happen. Names in brackets are the rows of
/// the fault catalogue: N of the network, S of the server.
class on_proxy : public support::on_each_server {
protected:
    explicit on_proxy(support::redis_server::options how = {})
        : support::on_each_server{std::move(how)} {}

    void SetUp() override {
        on_each_server::SetUp();
        if (!IsSkipped() && !HasFatalFailure())
            proxy_.emplace(server().socket_path());
    }

    stream_proxy& proxy() { return *proxy_; }

    /// Quick to see that something is wrong, and to try again.
    static constexpr duration command_timeout{200};

    /// The timeout of a test with thousands of requests at once. On a busy machine the last one is
    /// answered after more than a second.
    static constexpr duration command_timeout_of_many{10'000};

    options towards(redis::options where, duration timeout = command_timeout) {
        where.command_timeout = where.connect_timeout = timeout;
        where.backoff_min = 1ms;
        where.backoff_max = 20ms;
        options how;
        how.store = redis::make_store(where);
        how.observer = told_;
        return how;
    }
    options through(const std::string& socket) { return towards({.unix_socket = socket}); }
    options through_proxy() { return through(proxy().socket_path()); }
    options directly() { return through(server().socket_path()); }
    /// Of a client that waits no longer than for one answer, and leaves at once. The answer may
    /// take a while on a busy machine.
    static constexpr duration timeout_of_hasty{2'000};
    options hasty(const std::string& socket) {
        options how = towards({.unix_socket = socket}, timeout_of_hasty);
        how.unavailable_timeout = 1ms;
        how.close_timeout = 0ms;
        return how;
    }
    options directly_for_many() {
        return towards({.unix_socket = server().socket_path()}, command_timeout_of_many);
    }

    /// Owners that the server knows of this lock.
    std::int64_t owners(const std::string& name = "L") {
        return server().command({"HLEN", name}).integer;
    }
    bool is_free(const std::string& name = "L") {
        return server().command({"EXISTS", name}).integer == 0;
    }

    /// Waits until its end has moved. (It may have been renewed a moment ago: then it has never
    /// more left than now.)
    static bool is_renewed(const lease& held) {
        const auto end = [&held] { return std::chrono::steady_clock::now() + held.remaining(); };
        return eventually([end, before = end()] { return end() > before + 100ms; });
    }

    /// Commands that were carried out, those of scripts too.
    std::int64_t calls_of(const std::string& command) {
        const std::string all = server().command({"INFO", "commandstats"}).text;
        const std::string line = "cmdstat_" + command + ":calls=";
        const std::size_t at = all.find(line);
        if (at == all.npos)
            return 0;
        const std::size_t failed = all.find("failed_calls=", at);
        return std::stoll(all.substr(at + line.size())) -
               (command == "evalsha" ? std::stoll(all.substr(failed + 13)) : 0);
    }

    /// Does `once` with the connection cut after no byte, after one, and so on, until it got
    /// through uncut; before each time `begin`, and after it `check`.
    template <typename Begin, typename Once, typename Check>
    void cut_at_every_byte(way where, Begin begin, Once once, Check check) {
        begin();
        once(); // the scripts are there then, and the server's clock is known
        constexpr std::size_t shortest_talk = 5;
        std::size_t cuts = 0;
        for (bool was_cut = true; was_cut && !HasFailure(); ++cuts) {
            SCOPED_TRACE("cut after byte " + std::to_string(cuts));
            begin();
            proxy().cut_after(where, cuts);
            once();
            was_cut = proxy().is_cut();
            check();
        }
        EXPECT_GT(cuts, shortest_talk);
    }

    std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();

private:
    std::optional<stream_proxy> proxy_;
};

} // namespace holdfast::chaos
