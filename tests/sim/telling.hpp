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

/// Observer that writes the reports of a client to the trace.
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

/// Writes a request to the trace. `from` is the client. If there are several servers, `from` also
/// contains the server of the request.
void tell_of_request(trace&, subject from, const memory::request&, const memory::fate&,
                     bool troubled);
void tell_of_holder(trace&, subject lock, int client, const sighting&);

} // namespace holdfast::sim
