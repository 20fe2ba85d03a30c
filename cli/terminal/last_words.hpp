// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/observer.hpp>

#include <string>
#include <string_view>

namespace cli {

/// Remembers what the verbs of a lock do not return: why the last wait failed, in the server's or
/// the system's own words, and whether renewal has ended because of `max_hold`.
class last_words : public holdfast::observer {
public:
    /// `tells`: it says on stderr when other servers have the locks.
    explicit last_words(bool tells = false)
        : tells_{tells} {}

    void notify(const holdfast::event&) noexcept override;

    /// Says what is wrong with the store at `url`, and answers the exit status for it.
    int report(const boost::system::system_error&, const std::string& url,
               std::string_view refusal = "did not give the lock") const;

    bool max_hold_reached() const noexcept { return max_hold_reached_; }

private:
    std::string text_;
    std::string quorums_; ///< of a quorum as a whole
    bool max_hold_reached_ = false;
    const bool tells_;
};

} // namespace cli
