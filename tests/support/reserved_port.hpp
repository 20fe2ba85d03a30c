// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace holdfast::support {

/// Reserved port on 127.0.0.1. While the object lives, no other test on this machine takes the
/// port, even while no server listens on it. The port is below the range from which the kernel
/// chooses ports for connections. The kernel releases the port when the test ends.
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
