// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/dialler.hpp"
#include "mysql/line.hpp"

#include <holdfast/mysql/options.hpp>

#include <vector>

namespace holdfast::mysql {

/// Factory of connections to real servers.
class link_maker final : public line_maker {
public:
    /// Both arguments must outlive the factory and its connections.
    link_maker(const store_context&, const options&);

    asio::awaitable<introduced> make(const server_address&, time_point give_up_at) override;
    std::string address_of(const server_address&) const override;
    void close() noexcept override;

private:
    class visit;

    door door_to(const server_address&) const;

    const store_context& home_;
    const options& how_;
    std::vector<visit*> under_way_;
    bool closed_ = false;
};

} // namespace holdfast::mysql
