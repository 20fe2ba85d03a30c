// SPDX-License-Identifier: Apache-2.0
// The metrics of one `holdfast run`, with prometheus-cpp.
#include "cli/run/metrics_module.hpp"

#include <holdfast/metrics/collector.hpp>

#include <iterator>
#include <vector>

#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace {

using holdfast::metrics::collector;

/// Settings of the collector. Each lock gets its own label. The number of labels is small: a run
/// has at most 64 locks, and one lock that combines them.
holdfast::metrics::options settings() {
    holdfast::metrics::options how;
    how.label = [](std::string_view name) { return std::string{name}; };
    how.labels_max = 100;
    return how;
}

class metrics_of_run final : public cli::run_metrics {
public:
    void notify(const holdfast::event& e) noexcept override { counted_.notify(e); }

    std::string text(const std::string& name, double ended_at, int status) noexcept override {
        try {
            return with_end_of_run(name, ended_at, status);
        } catch (...) {
            return {};
        }
    }

private:
    std::string with_end_of_run(const std::string& name, double ended_at, int status) const {
        prometheus::Registry run;
        const prometheus::Labels labels{{"name", holdfast::metrics::label_text(name)}};
        prometheus::BuildGauge()
            .Name("holdfast_run_end_time_seconds")
            .Help("Date of the end of the last holdfast run, in seconds since 1970")
            .Register(run)
            .Add(labels)
            .Set(ended_at);
        prometheus::BuildGauge()
            .Name("holdfast_run_exit_status")
            .Help("Exit status of the last holdfast run; 75: the lock was lost")
            .Register(run)
            .Add(labels)
            .Set(status);
        std::vector<prometheus::MetricFamily> all = counted_.Collect();
        std::vector<prometheus::MetricFamily> more = run.Collect();
        std::move(more.begin(), more.end(), std::back_inserter(all));
        return prometheus::TextSerializer{}.Serialize(all);
    }

    collector counted_{settings()};
};

} // namespace

cli::run_metrics* holdfast_make_run_metrics() noexcept {
    try {
        return new metrics_of_run;
    } catch (...) {
        return nullptr;
    }
}
