// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

struct st_mysql;

namespace holdfast::mysql {

/// libmariadb's object for one connection, and its socket. It never waits when it is closed.
class handle {
public:
    handle() = default;
    explicit handle(st_mysql* raw) noexcept
        : raw_{raw} {}
    handle(handle&& other) noexcept
        : raw_{std::exchange(other.raw_, nullptr)} {}
    handle& operator=(handle&& other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~handle() { close(); }

    explicit operator bool() const noexcept { return raw_ != nullptr; }
    st_mysql* get() const noexcept { return raw_; }
    int socket() const noexcept; ///< -1: it has none
    bool over_tls() const noexcept;

    unsigned error() const noexcept;
    std::string words() const;
    bool in_transaction() const noexcept; ///< as the last answer said

    /// Ends both directions of the connection: whatever call is under way on it ends at once.
    void shut_down() noexcept;

    /// Tells the server that it ends, if nothing is under way. Call it last.
    void say_goodbye() noexcept;

private:
    void close() noexcept;

    st_mysql* raw_ = nullptr;
};

} // namespace holdfast::mysql
