// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace holdfast::support {

/// A port on 127.0.0.1 that no other test on this machine takes while the object lives: also while
/// the server that listens there is down. It lies below those that the kernel gives to connections.
/// If the test dies, the kernel frees it.
class reserved_port {
public:
    /// Throws `server_unavailable` if there is none.
    reserved_port();
    reserved_port(const reserved_port&) = delete;
    reserved_port(reserved_port&&) noexcept;
    ~reserved_port();

    std::uint16_t number() const { return number_; }

private:
    std::uint16_t number_ = 0;
    int mark_ = -1;
};

} // namespace holdfast::support
