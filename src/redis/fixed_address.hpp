// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node_context.hpp"

#include <memory>
#include <optional>
#include <string>

namespace holdfast::redis {

/// One server, which is known by its name or its address. A name may lead to another server one day
/// while the old one goes on taking connections, and asking it for locks; so while there is a
/// connection, the name is looked up every `options::address_check`. When the address in use was
/// missing three times running, the server is left: three, since some names rotate.
///
/// And the observer is told when a connection leads to another server than the one before.
class fixed_address : public std::enable_shared_from_this<fixed_address> {
public:
    explicit fixed_address(std::shared_ptr<node_context>);

    // See node_context.
    void met(const introduction&);
    void parted();

    void close();

private:
    static constexpr int missing_max = 3;

    struct server {
        net::stream_endpoint at;
        std::string run_id; // empty: not told
    };

    using self = std::shared_ptr<fixed_address>;
    static asio::awaitable<void> watch(self);
    asio::awaitable<void> rest();
    asio::awaitable<std::optional<bool>> is_missing(net::stream_endpoint);
    bool is_another(const server&) const;
    void leave();

    const std::shared_ptr<node_context> context_;
    const std::unique_ptr<alarm> wake_;
    const bool can_change_; // what the name leads to
    std::optional<server> last_;
    bool connected_ = false;
    int missing_ = 0; // so often running
    bool watching_ = false;
    bool closed_ = false;
};

} // namespace holdfast::redis
