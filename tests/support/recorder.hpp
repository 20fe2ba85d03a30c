// SPDX-License-Identifier: Apache-2.0
// Records for tests what the library reports: events, results of asynchronous calls, and
// exceptions.
#pragma once

#include <holdfast/asio.hpp>
#include <holdfast/error.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/time.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::support {

// Observer that records all events.

struct told {
    event_kind kind{};
    event_cause cause{};
    std::string name{};
    std::uint64_t owner_number = 0;
    duration length{};
    errc code{}; ///< error code of the event; zero: none
    std::string text{};
    std::uint64_t call_number = 0;
    int held_change = 0;
};

inline std::ostream& operator<<(std::ostream& to, const told& t) {
    return to << "kind " << static_cast<int>(t.kind) << ", cause " << static_cast<int>(t.cause)
              << ", name " << t.name << ", owner " << t.owner_number << ", " << t.length.count()
              << " ms, code " << static_cast<int>(t.code) << ", text " << t.text;
}

/// Observer that stores all events. Thread safety: any thread may call any member.
class recorder final : public observer {
public:
    void notify(const event& e) noexcept override {
        const std::scoped_lock guard{mutex_};
        all_.push_back(
            {e.kind, e.cause, std::string(e.name, e.name_size), e.owner_number,
             std::chrono::duration_cast<duration>(std::chrono::microseconds{e.duration_us}),
             static_cast<errc>(e.code), std::string(e.text, e.text_size), e.call_number,
             e.held_change});
    }

    std::vector<told> of(event_kind kind) const {
        const std::scoped_lock guard{mutex_};
        std::vector<told> some;
        std::copy_if(all_.begin(), all_.end(), std::back_inserter(some),
                     [kind](const told& t) { return t.kind == kind; });
        return some;
    }
    std::size_t count(event_kind kind) const { return of(kind).size(); }
    std::optional<told> last(event_kind kind) const {
        const std::vector<told> some = of(kind);
        return some.empty() ? std::nullopt : std::optional{some.back()};
    }
    std::vector<told> all() const {
        const std::scoped_lock guard{mutex_};
        return all_;
    }
    void clear() {
        const std::scoped_lock guard{mutex_};
        all_.clear();
    }

private:
    mutable std::mutex mutex_;
    std::vector<told> all_;
};

// Records what an asynchronous function passed to its completion handler.
//
//     said<lease> held;
//     stock.async_lock(held.handler());
//     run();
//     ASSERT_TRUE(held.well());

/// Result of an asynchronous call, stored by its handler. Not thread-safe, so the client must run
/// on the test's own thread.
template <typename T = std::monostate>
class said {
public:
    /// Returns a handler for one call. The handler may live longer than this object.
    auto handler() {
        return [heard = heard_](const error_code& code, auto... value) {
            ++heard->times;
            heard->code = code;
            (heard->value.emplace(std::move(value)), ...);
        };
    }

    bool done() const {
        if (heard_->times > 1)
            throw std::logic_error{"a handler was invoked twice"};
        return heard_->times == 1;
    }
    error_code code() const { return heard_->code; }
    bool well() const { return done() && !code(); }
    bool failed(const auto& with) const { return done() && code() == with; }

    /// Returns the value of the call. Throws `std::bad_optional_access` if there is no value.
    T& value() const { return heard_->value.value(); }
    T take() { return std::move(value()); }

private:
    struct heard {
        int times = 0;
        error_code code{};
        std::optional<T> value{};
    };
    std::shared_ptr<heard> heard_ = std::make_shared<heard>();
};

/// Error code and text of the exception that a call threw. Without an exception, the code is empty.
struct thrown {
    error_code code;
    std::string text;
};

template <typename Call>
thrown thrown_by(Call call) {
    try {
        call();
        return {};
    } catch (const boost::system::system_error& e) {
        return {e.code(), e.what()};
    }
}

/// Returns the error with which a coroutine has ended.
inline thrown thrown_of(const std::exception_ptr& failed) {
    return thrown_by([&failed] {
        if (failed)
            std::rethrow_exception(failed);
    });
}

template <typename Call>
error_code code_of(Call call) {
    return thrown_by(std::move(call)).code;
}

} // namespace holdfast::support
