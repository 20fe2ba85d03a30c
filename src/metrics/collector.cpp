// SPDX-License-Identifier: Apache-2.0
#include <holdfast/metrics/collector.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
namespace holdfast::metrics {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

/// Label for all locks after the maximum number of different labels was reached.
constexpr const char* other = "other";

double in_seconds(std::int64_t microseconds) {
    return static_cast<double>(microseconds) / 1e6;
}

struct cause_name {
    event_cause cause;
    const char* text;
};

/// Causes of a lost hold, as values of the label `cause`.
constexpr std::array<cause_name, 6> loss_causes{{
    {event_cause::none, "unknown"},
    {event_cause::refused, "refused"},
    {event_cause::term_ended, "term_ended"},
    {event_cause::forced, "forced"},
    {event_cause::max_hold, "max_hold"},
    {event_cause::closed, "closed"},
}};

/// Causes of a wait that ended without the lock, although its timeout had not expired.
constexpr std::array<cause_name, 3> failure_causes{{
    {event_cause::failed, "failed"},
    {event_cause::cancelled, "cancelled"},
    {event_cause::closed, "closed"},
}};

template <std::size_t Size>
std::size_t index_of(const std::array<cause_name, Size>& all, event_cause cause) {
    const auto found = std::ranges::find(all, cause, &cause_name::cause);
    return found == all.end() ? 0 : static_cast<std::size_t>(found - all.begin());
}

Family<Counter>& counters(Registry& all, const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(all);
}
Family<Gauge>& gauges(Registry& all, const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(all);
}
Family<Histogram>& histograms(Registry& all, const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(all);
}

std::vector<double> checked(std::vector<double> buckets) {
    const auto not_before = [](double one, double next) { return !(one < next); };
    if (std::ranges::adjacent_find(buckets, not_before) != buckets.end())
        throw std::invalid_argument{"holdfast::metrics: the bounds of the buckets must increase"};
    return buckets;
}

/// All metrics, by their names.
struct families {
    explicit families(Registry& all)
        : wait{histograms(all, "holdfast_wait_seconds",
                          "Time from a call to its end, with or without the lock")}
        , hold{histograms(all, "holdfast_hold_seconds",
                          "Time for which a lock was held, until its release or its loss")}
        , acquired{counters(all, "holdfast_acquired_total", "Calls that got the lock")}
        , busy{counters(all, "holdfast_busy_total",
                        "Calls that did not get the lock before their timeout expired")}
        , failed{counters(all, "holdfast_acquire_failures_total",
                          "Calls that ended without the lock for another reason, by cause")}
        , lost{counters(all, "holdfast_lost_total",
                        "Locks that were lost before their release, by cause")}
        , renewal_failures{counters(all, "holdfast_renewal_failures_total",
                                    "Attempts to renew a lock that failed")}
        , release_failures{counters(all, "holdfast_release_failures_total",
                                    "Releases that were refused or not acknowledged in time")}
        , abandoned{counters(all, "holdfast_abandoned_total",
                             "Locks whose thread ended without a release")}
        , misuses{counters(all, "holdfast_misuses_total",
                           "Calls to unlock a lock that the caller did not hold")}
        , held{gauges(all, "holdfast_held", "Locks that are held now")}
        , waiting{gauges(all, "holdfast_waiting", "Calls that wait for a lock now")}
        , oldest_wait{gauges(all, "holdfast_oldest_wait_seconds",
                             "Time since the start of the oldest call that waits now, or 0")}
        , disconnections{counters(all, "holdfast_disconnections_total",
                                  "Connections to the store that failed or were lost")}
        , reconnections{counters(all, "holdfast_reconnections_total",
                                 "Connections to the store that work again")}
        , moves{counters(all, "holdfast_moves_total",
                         "Changes of the server that has the locks, for example a failover")}
        , impairments{counters(all, "holdfast_impairments_total",
                               "Reports that the store denies a feature")} {}

    // Metrics that have the label `name`. `failed` and `lost` also have the label `cause`.
    Family<Histogram>&wait, &hold;
    Family<Counter>&acquired, &busy, &failed, &lost, &renewal_failures, &release_failures;
    Family<Counter>&abandoned, &misuses;
    Family<Gauge>&held, &waiting, &oldest_wait;
    // Metrics without labels.
    Family<Counter>&disconnections, &reconnections, &moves, &impairments;
};

/// Metrics of the locks with one label. All metrics begin at 0 when the label is seen for the first
/// time, so that `increase()` of Prometheus notices the first event.
struct series {
    series(const families& all, const std::string& label, const options& how)
        : wait{all.wait.Add({{"name", label}}, how.wait_buckets)}
        , hold{all.hold.Add({{"name", label}}, how.hold_buckets)}
        , acquired{all.acquired.Add({{"name", label}})}
        , busy{all.busy.Add({{"name", label}})}
        , renewal_failures{all.renewal_failures.Add({{"name", label}})}
        , release_failures{all.release_failures.Add({{"name", label}})}
        , abandoned{all.abandoned.Add({{"name", label}})}
        , misuses{all.misuses.Add({{"name", label}})}
        , held{all.held.Add({{"name", label}})}
        , waiting{all.waiting.Add({{"name", label}})}
        , oldest_wait{all.oldest_wait.Add({{"name", label}})} {
        for (std::size_t each = 0; each < loss_causes.size(); ++each)
            lost[each] = &all.lost.Add({{"name", label}, {"cause", loss_causes[each].text}});
        for (std::size_t each = 0; each < failure_causes.size(); ++each)
            failed[each] = &all.failed.Add({{"name", label}, {"cause", failure_causes[each].text}});
    }

    Histogram &wait, &hold;
    Counter &acquired, &busy, &renewal_failures, &release_failures, &abandoned, &misuses;
    Gauge &held, &waiting, &oldest_wait;
    std::array<Counter*, loss_causes.size()> lost{};
    std::array<Counter*, failure_causes.size()> failed{};
    /// Start time of each waiting call, by the number of the call. A call that began earlier has a
    /// smaller number.
    std::map<std::uint64_t, time_point> waits{};
};

} // namespace

class collector::books {
public:
    explicit books(options how)
        : how_{std::move(how)} {
        how_.wait_buckets = checked(std::move(how_.wait_buckets));
        how_.hold_buckets = checked(std::move(how_.hold_buckets));
        if (!how_.now)
            how_.now = options{}.now;
    }

    void count(const event& e) {
        switch (e.kind) {
        case event_kind::disconnected:
            return disconnections_.Increment();
        case event_kind::reconnected:
            return reconnections_.Increment();
        case event_kind::moved:
            return moves_.Increment();
        case event_kind::impaired:
            return impairments_.Increment();
        default:
            break;
        }
        const std::string wanted = label_of({e.name, e.name_size});
        const std::scoped_lock guard{mutex_};
        count(e, series_of(wanted));
    }

    std::vector<prometheus::MetricFamily> collect() {
        const std::scoped_lock guard{mutex_};
        const time_point now = this->now();
        for (auto& [label, each] : all_) {
            each.waiting.Set(static_cast<double>(each.waits.size()));
            const duration oldest =
                each.waits.empty() ? duration::zero() : now - each.waits.begin()->second;
            each.oldest_wait.Set(std::chrono::duration<double>{oldest}.count());
        }
        return registry_.Collect();
    }

private:
    time_point now() const { return how_.now(); }

    /// Returns the label that the user's function gives. Do not hold the mutex during the call,
    /// because the call runs code of the user.
    std::string label_of(std::string_view name) const {
        try {
            return label_text(how_.label ? how_.label(name) : before_colon(name));
        } catch (...) {
            return other;
        }
    }

    series& series_of(const std::string& wanted) {
        const auto known = all_.find(wanted);
        if (known != all_.end())
            return known->second;
        if (own_labels_ >= how_.labels_max && wanted != other)
            return series_of(other);
        series& made = all_.try_emplace(wanted, families_, wanted, how_).first->second;
        own_labels_ += wanted == other ? 0 : 1;
        return made;
    }

    void count(const event& e, series& of) {
        switch (e.kind) {
        case event_kind::waiting:
            of.waits.emplace(e.call_number, now() - std::chrono::duration_cast<duration>(
                                                        std::chrono::microseconds{e.duration_us}));
            break;
        case event_kind::acquired:
        case event_kind::joined:
            end_wait(e, of);
            of.acquired.Increment();
            break;
        case event_kind::waited:
            end_wait(e, of);
            if (e.cause == event_cause::timed_out)
                of.busy.Increment();
            else
                of.failed[index_of(failure_causes, e.cause)]->Increment();
            break;
        case event_kind::lost:
            of.lost[index_of(loss_causes, e.cause)]->Increment();
            break;
        case event_kind::renewal_failed:
            of.renewal_failures.Increment();
            break;
        case event_kind::release_failed:
            of.release_failures.Increment();
            break;
        case event_kind::abandoned:
            of.abandoned.Increment();
            break;
        case event_kind::misuse:
            of.misuses.Increment();
            break;
        default:
            break;
        }
        if (e.held_change != 0)
            of.held.Increment(e.held_change);
        if (e.held_change < 0)
            of.hold.Observe(in_seconds(e.duration_us));
    }

    static void end_wait(const event& e, series& of) {
        of.waits.erase(e.call_number);
        of.wait.Observe(in_seconds(e.duration_us));
    }

    options how_;
    Registry registry_;
    families families_{registry_};
    Counter& disconnections_ = families_.disconnections.Add({});
    Counter& reconnections_ = families_.reconnections.Add({});
    Counter& moves_ = families_.moves.Add({});
    Counter& impairments_ = families_.impairments.Add({});
    std::mutex mutex_; // guards the members below
    std::unordered_map<std::string, series> all_;
    std::size_t own_labels_ = 0; // number of labels in `all_`, without `other`
};

std::string before_colon(std::string_view name) {
    return std::string{name.substr(0, name.find(':'))};
}

collector::collector(options how)
    : books_{std::make_unique<books>(std::move(how))} {}

collector::~collector() = default;

void collector::notify(const event& e) noexcept {
    try {
        books_->count(e);
    } catch (...) { // NOLINT(bugprone-empty-catch): a lost count must not end the program
    }
}

std::vector<prometheus::MetricFamily> collector::Collect() const {
    return books_->collect();
}

} // namespace holdfast::metrics
