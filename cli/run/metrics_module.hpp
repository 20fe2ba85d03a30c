// SPDX-License-Identifier: Apache-2.0
// Entry point of the metrics module, a shared library that links prometheus-cpp. The program loads
// it only for --metrics-textfile. The module's folder has the version in its name, so program and
// module have the same version.
#pragma once

#include <holdfast/observer.hpp>

#include <string>

namespace cli {

/// Observer that counts the events of one `holdfast run`.
class run_metrics : public holdfast::observer {
public:
    /// Returns all metrics in the text format of Prometheus. Adds the end of the run for the lock
    /// `name`: the date `ended_at`, in seconds since 1970, and the exit status. Returns an empty
    /// text if memory runs out. The function throws nothing, because the module has its own C++
    /// runtime.
    virtual std::string text(const std::string& name, double ended_at, int status) noexcept = 0;
};

} // namespace cli

extern "C" {
using holdfast_run_metrics_maker = cli::run_metrics*() noexcept;

/// Creates the observer; the caller owns it. Returns null if memory runs out.
[[gnu::visibility("default")]] holdfast_run_metrics_maker holdfast_make_run_metrics;
}
