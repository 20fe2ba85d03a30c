// SPDX-License-Identifier: Apache-2.0
// The monitor as an Asio executor.
#pragma once

#include "runtime/visit.hpp"

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <type_traits>

namespace holdfast::runtime {

/// Marks the calling thread as inside a monitor while the object exists.
class monitor::presence {
public:
    explicit presence(const monitor& where) noexcept
        : before_{std::exchange(here(), &where)} {}
    presence(const presence&) = delete;
    ~presence() { here() = before_; }

    /// Returns the monitor that the calling thread is inside, or null.
    static const monitor*& here() noexcept;

private:
    const monitor* const before_;
};

template <typename Function>
void monitor::run(Function& what) {
    if (presence::here() == this)
        return what();
    const std::scoped_lock alone{mutex_};
    const presence inside{*this};
    what();
}

/// Executor of a monitor. `Inner` is an executor of the background io_context, with any properties.
/// An executor that belongs to a visit (`of_visit`) runs a function on the visiting thread if that
/// thread submits the function.
template <typename Inner>
class monitor::entering {
public:
    entering(monitor& where, const Inner& inner, std::uint64_t of_visit = 0) noexcept
        : monitor_{&where}
        , inner_{inner}
        , of_visit_{of_visit} {}

    monitor& where() const noexcept { return *monitor_; }
    bool of_visit() const noexcept { return of_visit_ != 0; }

    template <typename Function>
    void execute(Function&& what) const {
        const bool at_once =
            asio::query(inner_, asio::execution::blocking) == asio::execution::blocking.possibly;
        if (visit* const visitor = visitor_here())
            return at_once ? what() : visitor->later(std::forward<Function>(what));
        if (at_once && inner_.running_in_this_thread())
            return monitor_->run(what);
        inner_.execute([where = monitor_, what = std::forward<Function>(what)]() mutable {
            where->run(what);
        });
    }

    bool operator==(const entering& other) const noexcept {
        return monitor_ == other.monitor_ && inner_ == other.inner_ && of_visit_ == other.of_visit_;
    }

    // For all other properties, the io_context replies to the query.
    template <typename Property>
    requires asio::can_query_v<const Inner&, Property>
    // The type that Asio returns may be const. NOLINTNEXTLINE(readability-const-return-type)
    decltype(auto) query(const Property& p) const noexcept { return asio::query(inner_, p); }

    template <typename Property>
    requires asio::can_require_v<const Inner&, Property>
    auto require(const Property& p) const noexcept { return wrap(asio::require(inner_, p)); }

    template <typename Property>
    requires asio::can_prefer_v<const Inner&, Property>
    auto prefer(const Property& p) const noexcept { return wrap(asio::prefer(inner_, p)); }

private:
    template <typename Changed>
    entering<std::decay_t<Changed>> wrap(const Changed& inner) const noexcept {
        return {*monitor_, inner, of_visit_};
    }

    visit* visitor_here() const noexcept {
        visit* const here = of_visit_ == 0 ? nullptr : visit::here(*monitor_);
        return here && here->number() == of_visit_ ? here : nullptr;
    }

    monitor* monitor_;
    Inner inner_;
    std::uint64_t of_visit_;
};

} // namespace holdfast::runtime
