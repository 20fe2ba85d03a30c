// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace holdfast::support {

/// Port on 127.0.0.1 that no other test on this machine takes while the object lives, even while
/// the server on this port is down. It is below the range from which the kernel takes ports of
/// connections. If the test ends, the kernel releases it.
class reserved_port {
public:
    /// Throws `server_unavailable` if no port is free.
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
