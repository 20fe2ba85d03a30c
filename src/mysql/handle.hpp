// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

struct st_mysql;

namespace holdfast::mysql {

/// Owner of libmariadb's object for one connection, with its socket. Closing it never blocks.
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
    int socket() const noexcept; ///< -1: no socket
    bool over_tls() const noexcept;

    unsigned error() const noexcept;
    std::string words() const;
    /// whether a transaction is open, according to the last answer
    bool in_transaction() const noexcept;

    /// Shuts down the socket in both directions. If a call is running on the connection, the call
    /// ends at once.
    void shut_down() noexcept;

    /// Tells the server that the connection ends. Call this function last, and only while no
    /// statement is running.
    void say_goodbye() noexcept;

private:
    void close() noexcept;

    st_mysql* raw_ = nullptr;
};

} // namespace holdfast::mysql
