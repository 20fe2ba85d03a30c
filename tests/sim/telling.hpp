// SPDX-License-Identifier: Apache-2.0
// Writes requests, holders and the clients' reports as lines of a trace.
#pragma once

#include "sim/trace.hpp"

#include <holdfast/memory/server.hpp>
#include <holdfast/observer.hpp>

#include <functional>
#include <utility>

namespace holdfast::sim {

struct sighting;

/// Observer that writes the reports of a client.
class telling final : public observer {
public:
    telling(trace& log, int client, std::function<void(const event&)> heard)
        : log_{log}
        , client_{client}
        , heard_{std::move(heard)} {}
    void notify(const event&) noexcept override;

private:
    trace& log_;
    const int client_;
    std::function<void(const event&)> heard_;
};

/// `from` is the client. If there are several servers, `from` also has the server that it asks.
void tell_of_request(trace&, subject from, const memory::request&, const memory::fate&,
                     bool troubled);
void tell_of_holder(trace&, subject lock, int client, const sighting&);

} // namespace holdfast::sim
