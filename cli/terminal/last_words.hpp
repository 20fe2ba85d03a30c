// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/observer.hpp>

#include <string>
#include <string_view>

namespace cli {

/// Observer that remembers why the last wait failed, with the text of the server or the system. It
/// also remembers whether renewal has ended because of `max_hold`. The lock functions do not return
/// this information.
class last_words : public holdfast::observer {
public:
    /// Creates the observer. With `tells`, it prints on stderr when the locks have moved to other
    /// servers.
    explicit last_words(bool tells = false)
        : tells_{tells} {}

    void notify(const holdfast::event&) noexcept override;

    /// Prints the problem of the store at `url`. Returns the exit status.
    int report(const boost::system::system_error&, const std::string& url,
               std::string_view refusal = "did not give the lock") const;

    bool max_hold_reached() const noexcept { return max_hold_reached_; }

private:
    std::string text_;
    std::string quorums_; ///< text about the whole quorum
    bool max_hold_reached_ = false;
    const bool tells_;
};

} // namespace cli
