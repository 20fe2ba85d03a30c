// SPDX-License-Identifier: Apache-2.0
#include "url/parameters.hpp"

#include "refusal.hpp"
#include "url/length.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

namespace holdfast::url {
namespace {

/// One name that a URL may give a value to.
struct setting {
    std::string_view name;
    std::function<void(std::string_view value)> set;
};

/// Whoever asks for protection must not go without it unawares.
tls_options& needed(std::optional<redis::tls_options>& tls, std::string_view name) {
    if (!tls)
        refuse("url: " + std::string{name} +
               " is for rediss://; without the second s nothing is protected");
    return *tls;
}

redis::sentinel_options& needed_sentinels(redis::options& server, std::string_view name) {
    if (!server.sentinel)
        refuse("url: " + std::string{name} + " is for redis+sentinel://");
    return *server.sentinel;
}

class settings {
public:
    settings(const parts& all, options& how, redis::options* server)
        : all_{all} {
        add_length("lease_time", how.lease_time);
        add_length("max_hold", how.max_hold);
        add_length("unavailable_patience", how.unavailable_patience);
        add_length("release_patience", how.release_patience);
        add_length("close_patience", how.close_patience);
        add_length("poll_bound", how.poll_bound);
        add_length("hand_off_within", how.hand_off.within);
        add_count("hand_off_times_max", how.hand_off.times_max);
        add_count("required_replicas", how.required_replicas);
        add("prefix", [&how](std::string_view text) { how.prefix = text; });
        add("label", [&how](std::string_view text) { how.label = text; });
        add("announce", [this, &how](std::string_view text) {
            if (text != "yes" && text != "no")
                refuse("url: announce " + shown(all_, text) + " is neither yes nor no");
            how.announce = text == "yes";
        });
        if (!server)
            return;
        add_length("connect_timeout", server->connect_timeout);
        add_length("command_timeout", server->command_timeout);
        add_length("replica_timeout", server->replica_timeout);
        add_length("address_check", server->address_check);
        add_length("topology_check", server->topology_check);
        add("pubsub", [this, server](std::string_view text) { server->pubsub = form_of(text); });
        add("sentinel_user", [server](std::string_view text) {
            needed_sentinels(*server, "sentinel_user").user = text;
        });
        add("sentinel_password", [server](std::string_view text) {
            needed_sentinels(*server, "sentinel_password").password = text;
        });
        add_length("fair_wait", server->fair_wait);
        add("redisson",
            [this, server](std::string_view text) { server->redisson = redisson_of(text); });
        add("database", [this, server](std::string_view text) {
            server->database = read_database(all_, text);
        });
        add_count("lanes_max", server->lanes_max);
        add("polling", [this, server](std::string_view text) {
            server->polling = std::chrono::microseconds{number_in("polling", text, "us")};
        });
        add_tls(server->tls);
    }
    settings(const settings&) = delete;

    const setting* find(std::string_view name) const {
        const auto found = std::find_if(known_.begin(), known_.end(),
                                        [&](const setting& s) { return s.name == name; });
        return found == known_.end() ? nullptr : &*found;
    }
    std::string advice_for(std::string_view name) const;

private:
    void add(std::string_view name, std::function<void(std::string_view)> set) {
        known_.push_back({name, std::move(set)});
    }
    template <typename Length> // a duration, or none
    void add_length(std::string_view name, Length& field) {
        add(name, [this, name, &field](std::string_view text) { field = length_of(name, text); });
    }
    template <typename Count>
    void add_count(std::string_view name, Count& field) {
        add(name, [this, name, &field](std::string_view text) {
            field = static_cast<Count>(number_in(name, text, ""));
        });
    }
    void add_tls(std::optional<tls_options>& tls) {
        const auto add_text = [&](std::string_view name, std::string tls_options::*field) {
            add(name, [=, &tls](std::string_view text) { needed(tls, name).*field = text; });
        };
        add_text("tls_ca_file", &tls_options::ca_file);
        add_text("tls_certificate_file", &tls_options::certificate_file);
        add_text("tls_key_file", &tls_options::key_file);
        add_text("tls_server_name", &tls_options::server_name);
        constexpr std::string_view unsafe = "tls_insecure_skip_verification";
        add(unsafe, [=, this, &tls](std::string_view text) {
            if (text != "yes")
                refuse("url: " + std::string{unsafe} + " " + shown(all_, text) +
                       " is neither yes nor left out");
            needed(tls, unsafe).insecure_skip_verification = true;
        });
    }
    redis::pubsub_form form_of(std::string_view text) const {
        if (text == "auto")
            return redis::pubsub_form::automatic;
        if (text == "plain")
            return redis::pubsub_form::plain;
        if (text == "sharded")
            return redis::pubsub_form::sharded;
        if (text != "both")
            refuse("url: pubsub " + shown(all_, text) +
                   " is none of auto, plain, sharded and both");
        return redis::pubsub_form::both;
    }
    redis::redisson_form redisson_of(std::string_view text) const {
        if (text == "3.13")
            return redis::redisson_form::v3_13;
        if (text == "3.16")
            return redis::redisson_form::v3_16;
        if (text != "3.17")
            refuse("url: redisson " + shown(all_, text) + " is none of 3.13, 3.16 and 3.17");
        return redis::redisson_form::v3_17;
    }
    duration length_of(std::string_view name, std::string_view text) const {
        const length read = read_length(text);
        if (!read.objection.empty())
            refuse("url: " + std::string{name} + " " + shown(all_, text) + " " +
                   (all_.may_show ? read.objection : "is no length of time"));
        return read.value;
    }

    /// As many as 32 bits can count.
    std::uint32_t number_in(std::string_view name, std::string_view text,
                            std::string_view unit) const {
        std::uint32_t number = 0;
        const char* const end = text.data() + text.size();
        const auto [behind, failed] = std::from_chars(text.data(), end, number);
        if (failed != std::errc{} || std::string_view{behind, end} != unit)
            refuse("url: " + std::string{name} + " " + shown(all_, text) +
                   " is not a whole number" +
                   (unit.empty() ? "" : " followed by " + std::string{unit}) + ", as in 100" +
                   std::string{unit});
        return number;
    }

    const parts& all_;
    std::vector<setting> known_;
};

/// How many letters must be changed, put in or taken out to make one of the other (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

std::string settings::advice_for(std::string_view name) const {
    const auto farther = [&](const setting& a, const setting& b) {
        return distance(a.name, name) < distance(b.name, name);
    };
    const auto nearest = std::min_element(known_.begin(), known_.end(), farther);
    if (name.size() < 100 && distance(nearest->name, name) <= nearest->name.size() / 3)
        return "; do you mean " + std::string{nearest->name} + "?";
    std::string all = "; known are";
    for (const setting& each : known_)
        all.append(&each == &known_.front() ? " " : ", ").append(each.name);
    return all;
}

} // namespace

void apply_parameters(const parts& all, options& how, redis::options* server) {
    const settings known{all, how, server};
    std::vector<std::string_view> seen;
    for (const parameter& given : all.parameters) {
        const setting* const meant = known.find(given.name);
        if (!meant)
            refuse("url: there is no parameter " + shown(all, given.name) +
                   known.advice_for(given.name));
        if (std::find(seen.begin(), seen.end(), meant->name) != seen.end())
            refuse("url: " + given.name + " is given twice");
        seen.push_back(meant->name);
        meant->set(given.value.reveal());
    }
}

std::uint32_t read_database(const parts& all, std::string_view text) {
    std::uint32_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [behind, failed] = std::from_chars(text.data(), end, number);
    if (failed != std::errc{} || behind != end)
        refuse("url: the database " + shown(all, text) +
               " is no number; it is written redis://host/2, redis+sentinel://host/SERVICE/2 or "
               "?database=2");
    return number;
}

} // namespace holdfast::url
