// SPDX-License-Identifier: Apache-2.0
// One thing at a time, on whichever thread: as a rule on the background thread, whose work comes
// through the executor; and on a calling thread that enters (visit.hpp) instead of waking it.
// It is Hoare's monitor: who is inside is alone with the client's state.
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

    /// What is given to it runs on the background thread, inside.
    asio::any_io_executor executor();

    /// Whose executor that is; null if it is none of these.
    static monitor* of(const asio::any_io_executor&);

    /// Whether the calling thread is the background thread.
    bool runs_here() const;

    /// Something is under way that wakes the background thread. The more of that there is, the more
    /// is done each time it wakes, and beyond a few it is cheaper to wait for it than to visit.
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

    /// With how much under way a caller may still visit; zero, the default: never.
    void welcome(std::size_t load_max) noexcept { load_max_ = load_max; }
    bool welcomes() const noexcept {
        return load_.load(std::memory_order_relaxed) < load_max_.load(std::memory_order_relaxed);
    }

    /// The calling thread's visit, or null: it is the background thread. Ask only inside.
    visit* visitor() const noexcept { return visitor_; }

    /// Whether it is inside, too: what is given to the executor then runs later.
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
    visit* visitor_ = nullptr; // who has that
    std::atomic<std::size_t> load_ = 0;
    std::atomic<std::size_t> load_max_ = 0;
};

} // namespace holdfast::runtime
