// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/sweep.hpp"

#include "runtime/background.hpp"
#include "store/mysql/clauses.hpp"

#include <boost/system/system_error.hpp>

namespace holdfast::mysql {
namespace {

constexpr duration between_sweeps = std::chrono::minutes{10};
constexpr std::size_t rows_in_step = 500;

/// Maximum number of steps in one sweep. The next sweep continues.
constexpr int steps_max = 1000;

const std::string day_ago = std::string{now_text} + "-INTERVAL 1 DAY";

} // namespace

std::string unused_names(const tables& named, const std::string& behind) {
    return "SELECT name FROM " + named.locks + " WHERE name>" + hex(behind) + " AND expires<" +
           day_ago + " ORDER BY name LIMIT " + std::to_string(rows_in_step);
}

// Deletes by the primary key, so that the server locks no other rows.
std::vector<std::string> unused_deleted(const tables& named,
                                        const std::vector<std::string>& names) {
    const std::string old = " AND expires<" + day_ago;
    std::vector<std::string> all;
    if (!names.empty())
        all.push_back("DELETE FROM " + named.locks + " WHERE name IN " + list_of(names) + old);
    all.push_back("DELETE FROM " + named.holds + " WHERE expires<" + day_ago + " LIMIT " +
                  std::to_string(rows_in_step));
    all.push_back("DELETE FROM " + named.requests + " WHERE expires<" + day_ago + " LIMIT " +
                  std::to_string(rows_in_step));
    return all;
}

void sweep::start() {
    runtime::run_in_background(at_.context, loop(shared_from_this()));
}

void sweep::stop() noexcept {
    stopped_ = true;
    sleep_->ring();
}

asio::awaitable<void> sweep::loop(std::shared_ptr<sweep> self) {
    while (!self->stopped_) {
        co_await self->sleep_->wait_until(self->at_.context.time.now() + between_sweeps);
        if (self->stopped_)
            break;
        try {
            co_await self->once();
        } catch (const boost::system::system_error&) {
            // Ignored: the next sweep tries again.
        }
    }
}

asio::awaitable<void> sweep::once() {
    std::string behind;
    for (int step = 0; step < steps_max && !stopped_; ++step) {
        const auto ask = [&](const runtime::remote_clock&, const server_facts&) {
            return std::vector<std::string>{unused_names(at_.named, behind)};
        };
        composing asking{ask};
        const answers said = co_await at_.server.run(asking);
        std::vector<std::string> names;
        for (const auto& row : answer_at(said, 0).rows)
            names.push_back(text_at(row, 0));
        const auto make = [&](const runtime::remote_clock&, const server_facts&) {
            return unused_deleted(at_.named, names);
        };
        composing deleting{make};
        if (stopped_)
            co_return;
        co_await at_.server.run(deleting);
        if (names.size() < rows_in_step)
            co_return;
        behind = names.back();
    }
}

} // namespace holdfast::mysql
