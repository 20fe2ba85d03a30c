// SPDX-License-Identifier: Apache-2.0
// Monitor (Hoare): only one thread at a time is inside, and only that thread uses the client's
// state. Usually the background thread is inside; it runs the functions that were posted to the
// executor. A calling thread can also enter the monitor (visit.hpp) instead of waking the
// background thread.
#pragma once

#include <holdfast/asio.hpp>

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

namespace holdfast::runtime {

class visit;

class monitor {
public:
    explicit monitor(asio::io_context& background)
        : background_{background} {}
    monitor(const monitor&) = delete;

    /// Returns the executor whose functions run on the background thread, inside the monitor.
    asio::any_io_executor executor();

    /// Returns the monitor that an executor belongs to, or null if it is not the executor of a
    /// monitor.
    static monitor* of(const asio::any_io_executor&);

    /// Returns whether the calling thread is the background thread.
    bool runs_here() const;

    /// Counts an operation that will wake the background thread. One wake-up serves all operations
    /// that are ready. If there are many operations, waiting for the wake-up is cheaper for a
    /// caller than entering the monitor.
    class load {
    public:
        explicit load(monitor* where) noexcept
            : where_{where} {
            if (where_)
                where_->load_.fetch_add(1, std::memory_order_relaxed);
        }
        load(const load&) = delete;
        ~load() {
            if (where_)
                where_->load_.fetch_sub(1, std::memory_order_relaxed);
        }

    private:
        monitor* const where_;
    };

    /// Lets calling threads enter while fewer than `load_max` operations are counted. Zero, the
    /// default: calling threads never enter.
    void welcome(std::size_t load_max) noexcept { load_max_ = load_max; }
    bool welcomes() const noexcept {
        return load_.load(std::memory_order_relaxed) < load_max_.load(std::memory_order_relaxed);
    }

    /// Returns the `visit` object of the caller's thread that is inside the monitor. Returns null
    /// if the background thread is inside. Call this function only inside the monitor.
    visit* visitor() const noexcept { return visitor_; }

    /// Returns whether the calling thread is the background thread and is inside the monitor. A
    /// function that is posted to the executor then runs later.
    bool is_inside() const;

private:
    friend class runtime::visit;
    template <typename Inner>
    class entering;
    using plain_executor = entering<asio::io_context::executor_type>;

    class presence;
    template <typename Function>
    void run(Function&);

    asio::io_context& background_;
    std::mutex mutex_;
    visit* visitor_ = nullptr; // visit that holds `mutex_`
    std::atomic<std::size_t> load_ = 0;
    std::atomic<std::size_t> load_max_ = 0;
};

} // namespace holdfast::runtime
