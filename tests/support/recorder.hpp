// SPDX-License-Identifier: Apache-2.0
// Observer that records all events.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/time.hpp>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace holdfast::support {

struct told {
    event_kind kind{};
    event_cause cause{};
    std::string name{};
    std::uint64_t owner_number = 0;
    duration length{};
    errc code{}; ///< error code of the event; zero: none
    std::string text{};
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
             static_cast<errc>(e.code), std::string(e.text, e.text_size)});
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

} // namespace holdfast::support
