// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node_context.hpp"

#include <memory>
#include <optional>
#include <string>

namespace holdfast::redis {

/// Watches the address of one server that is known by name or by address. A name may lead to
/// another server one day, while the old server still accepts connections. The client would then go
/// on asking the old server for locks. Therefore the name is looked up every
/// `options::address_check` while there is a connection. The server is left when its address was
/// missing three times in a row. One time is not enough, because some names rotate their addresses.
///
/// It also tells the observer when a connection leads to another server than the connection before.
class fixed_address : public std::enable_shared_from_this<fixed_address> {
public:
    explicit fixed_address(std::shared_ptr<node_context>);

    // Callbacks of the command connection; see node_context.
    void met(const introduction&);
    void parted();

    void close();

private:
    static constexpr int missing_max = 3;

    struct server {
        net::stream_endpoint at;
        std::string run_id; // empty if not told
    };

    using self = std::shared_ptr<fixed_address>;
    static asio::awaitable<void> watch(self);
    asio::awaitable<void> rest();
    asio::awaitable<std::optional<bool>> is_missing(net::stream_endpoint);
    bool is_another(const server&) const;
    void leave();

    const std::shared_ptr<node_context> context_;
    const std::unique_ptr<alarm> wake_;
    const bool can_change_; // whether the name can lead to another address later
    std::optional<server> last_;
    bool connected_ = false;
    int missing_ = 0; // number of lookups in a row without the address in use
    bool watching_ = false;
    bool closed_ = false;
};

} // namespace holdfast::redis
