// SPDX-License-Identifier: Apache-2.0
// Metrics for Prometheus: the component holdfast::metrics, which uses prometheus-cpp.
#pragma once

#include <holdfast/export.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/time.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

namespace holdfast::metrics {

/// Returns the part of the name before the first `:`. Returns the whole name if the name has no
/// `:`.
HOLDFAST_EXPORT std::string before_colon(std::string_view name);

/// Returns the text in the form in which the collector writes it into a label. Use this function if
/// your own metrics have the same label. Bytes that are not UTF-8 and control characters become
/// U+FFFD, because Prometheus would reject all metrics of the process. A result of more than 128
/// bytes is cut, and then ends with `...`. An empty text becomes `(empty)`, because Prometheus
/// treats an empty label as missing.
HOLDFAST_EXPORT std::string label_text(std::string_view);

/// Settings of a `collector`.
struct options {
    /// Function that maps the name of a lock at the store to the value of the label `name`. Many
    /// locks should get the same value, because each value costs memory here and in Prometheus. The
    /// name begins with `holdfast::options::prefix`. The function must return the same value
    /// whenever it gets the same name. Several threads may call it at the same time if several
    /// clients share the collector. If the function throws, the value is `other`.
    std::function<std::string(std::string_view name)> label = before_colon;

    /// Maximum number of different values of the label `name`. The first values are kept, and every
    /// further value becomes `other`. With 0, every lock is counted as `other`.
    std::size_t labels_max = 50;

    /// Upper bounds of the buckets for `holdfast_wait_seconds`, in seconds, in increasing order.
    std::vector<double> wait_buckets{0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 15, 60, 300, 1800};
    /// Upper bounds of the buckets for `holdfast_hold_seconds`, in seconds, in increasing order.
    std::vector<double> hold_buckets{0.001, 0.01, 0.1, 1, 5, 15, 60, 300, 1800, 7200};

    /// Clock for the metric `holdfast_oldest_wait_seconds`. Only tests set it. The clock must be
    /// thread-safe.
    std::function<time_point()> now = boot_clock::now;
};

/// Observer that counts the events of clients as metrics for Prometheus.
///
///     auto locks = std::make_shared<holdfast::metrics::collector>();
///     holdfast::client client{holdfast::options{.url = url, .observer = locks}};
///     prometheus::Exposer exposer{"127.0.0.1:9464"};
///     exposer.RegisterCollectable(locks);
///
/// Several clients may share one collector. A process needs one collector, because the metrics of
/// two collectors have the same names. docs/howto/metrics.md lists the metrics.
///
/// The function `label_text` makes every value fit for a label.
///
/// Ownership: the clients share ownership of the collector, but the Exposer does not own it (it has
/// a weak pointer). So the caller must keep the collector as long as it is exposed. Thread safety:
/// any thread may call every member. Do not use a collector in a child process after fork(): create
/// a new collector there.
class HOLDFAST_EXPORT collector final : public observer, public prometheus::Collectable {
public:
    /// Creates the collector. Throws `std::invalid_argument` if the bounds of the buckets are not
    /// in increasing order.
    explicit collector(options = {});
    collector(const collector&) = delete;
    ~collector() override;

    /// Counts an event. If memory runs out, the event is not counted.
    void notify(const event&) noexcept override;

    /// Returns the present values. May throw `std::bad_alloc`.
    std::vector<prometheus::MetricFamily> Collect() const override;

private:
    class books;
    const std::unique_ptr<books> books_;
};

} // namespace holdfast::metrics
