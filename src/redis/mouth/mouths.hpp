// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/mouth/mouth.hpp"

#include <memory>

namespace holdfast::redis {

/// The shared connections for requests: one, and a spare for what must not wait behind one that
/// fell silent. A connection that died without a word is given up late, since a server may only be
/// slow; a short lease cannot wait for that.
class mouths {
public:
    explicit mouths(std::shared_ptr<node_context>);

    /// The one for such a request.
    mouth& pick(const call_wishes&);

    /// Connects the first one, which notices when the server goes, if it is not.
    void stay_connected() { first_->stay_connected(); }

    server_identity identity() const { return first_->identity(); }

    /// Ends all connections.
    void cut(const net::failure& why);

    /// Ends the connection by which that answer came, if it is one of these.
    void distrust(const reply&, const net::failure& why);

    void close();

private:
    const std::shared_ptr<node_context> context_;
    const std::shared_ptr<mouth> first_;
    std::shared_ptr<mouth> spare_; // null: was never wanted
    bool closed_ = false;
};

} // namespace holdfast::redis
