// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace holdfast::bench {

/// A server of its own for one client, over TLS, and the way between them. Both can fail.
class troubled_server {
public:
    virtual ~troubled_server() = default;

    virtual std::string url() const = 0; ///< as `client` takes it

    virtual void cut() = 0;    ///< all connections end at once (RST); new ones are welcome
    virtual void freeze() = 0; ///< SIGSTOP: connections stay, new ones are made, nobody answers
    virtual void thaw() = 0;
    virtual void kill() = 0;
    virtual void revive() = 0; ///< with what was there

protected:
    troubled_server() = default;
};

// They throw `not_here`.
std::unique_ptr<troubled_server> troubled_keeper();
std::unique_ptr<troubled_server> troubled_database();

} // namespace holdfast::bench
