// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node_context.hpp"

#include <memory>
#include <optional>
#include <string>

namespace holdfast::redis {

/// Watches the address of one server that is given by a name or an address. The name may be changed
/// to lead to another server, while the old server still accepts connections. The client would then
/// continue to ask the old server for locks. Therefore the name is looked up every
/// `options::address_check` while there is a connection. The client leaves the server when three
/// lookups in a row did not return its address. One lookup is not enough, because some names rotate
/// their addresses.
///
/// The class also tells the observer when a new connection leads to another server than the
/// connection before.
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
        std::string run_id; // empty if the server did not tell it
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
