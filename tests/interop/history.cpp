// SPDX-License-Identifier: Apache-2.0
#include "interop/history.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace holdfast::interop {
namespace {

template <typename T>
void append(std::vector<T>& to, std::vector<T> more) {
    std::ranges::move(more, std::back_inserter(to));
}

/// History of one worker, line by line.
class reading {
public:
    explicit reading(std::string worker)
        : worker_{std::move(worker)} {}

    void line(const std::string& text) {
        std::istringstream words{text};
        std::int64_t ns = 0;
        std::string what, name;
        if (!(words >> ns >> what >> name))
            throw std::runtime_error{worker_ + ": not a line of a history: " + text};
        const moment at{ns};
        if (deeds_.is_one(what))
            deeds_.line(at, what, name, words);
        else if (what == "asks")
            ask(at, name, words);
        else if (what == "holds")
            hold(at, name);
        else if (what == "shares")
            share(at, name);
        else if (what == "token")
            words >> open_->token;
        else if (what == "gives-up")
            give_up(at);
        else if (what == "leaves")
            end(at);
        else if (what == "left")
            pending_permits_ = 0;
        else if (what == "lost")
            lose(name);
        else if (what == "failed")
            made_.troubles.push_back(worker_ + " failed: " + text);
        else
            throw std::runtime_error{worker_ + ": what is " + what + "?"};
    }

    history finished(std::optional<moment> killed_at) {
        if (pending_permits_ > 0) {
            permits_gone& gone = made_.gone[asked_for_];
            (open_ ? gone.known : gone.unclear) += pending_permits_;
        }
        for (const given_up& each : given_up_)
            if (killed_at && may_not_be_back(each.at, *killed_at))
                made_.gone[each.name].unclear += each.permits;
        if (open_ && killed_at)
            end(*killed_at);
        else if (open_)
            made_.troubles.push_back(worker_ + " ended while it held " + open_->name);
        made_.add(deeds_.finished(killed_at));
        return std::move(made_);
    }

private:
    void ask(moment at, const std::string& name, std::istringstream& words) {
        if (gave_up_at_ && pending_permits_ > 0)
            given_up_.push_back({asked_for_, pending_permits_, *gave_up_at_});
        gave_up_at_.reset();
        std::int64_t ms = 0;
        words >> ms;
        asked_at_ = at;
        sure_for_ = std::chrono::milliseconds{ms};
        asked_for_ = name;
        if (!(words >> pending_permits_))
            pending_permits_ = 0;
    }
    void hold(moment at, const std::string& name) {
        open_ = claim{worker_, name, at, at};
        made_.waits.push_back(
            std::chrono::duration_cast<std::chrono::microseconds>(at - asked_at_));
    }
    void give_up(moment at) {
        ++made_.gave_up;
        gave_up_at_ = at;
    }
    /// Who was alone until now did not wait for it.
    void share(moment at, const std::string& name) {
        if (open_)
            end(at);
        else
            hold(at, name);
        open_ = claim{worker_, name, at, at, true};
        open_->permits = pending_permits_;
    }
    /// A lease that is not renewed may have begun as early as it was asked for.
    void end(moment at) {
        open_->until = sure_for_ > moment::zero() ? std::min(at, asked_at_ + sure_for_) : at;
        if (open_->until > open_->from)
            made_.claims.push_back(*open_);
        open_.reset();
    }
    void lose(const std::string& name) {
        ++made_.lost;
        if (sure_for_ == moment::zero())
            made_.troubles.push_back(worker_ + " lost " + name + ", which was renewed");
    }

    struct given_up {
        std::string name;
        std::int64_t permits;
        moment at;
    };

    std::string worker_;
    history made_;
    moment asked_at_{}, sure_for_{};
    std::string asked_for_;
    std::int64_t pending_permits_ = 0; ///< those of the last request, until they are given back
    std::optional<moment> gave_up_at_; ///< of the last request
    std::vector<given_up> given_up_;   ///< of earlier ones
    std::optional<claim> open_;
    deeds_reading deeds_{worker_};
};

} // namespace

void history::add(history other) {
    append(claims, std::move(other.claims));
    append(deeds, std::move(other.deeds));
    append(waits, std::move(other.waits));
    append(troubles, std::move(other.troubles));
    for (const auto& [name, more] : other.gone) {
        gone[name].known += more.known;
        gone[name].unclear += more.unclear;
    }
    for (const auto& [name, times] : other.overtaken)
        overtaken[name] += times;
    gave_up += other.gave_up;
    lost += other.lost;
}

bool may_not_be_back(moment gave_up_at, moment killed_at) {
    constexpr std::chrono::seconds back_within{1}; // as a rule ms; these machines are busy
    return gave_up_at > killed_at - back_within;
}

history read_history(const std::filesystem::path& file, std::optional<moment> killed_at) {
    std::ifstream lines{file};
    reading of{file.filename().string()};
    for (std::string line; std::getline(lines, line);)
        of.line(line);
    return of.finished(killed_at);
}

std::vector<std::string> overlaps(std::vector<claim> claims) {
    std::ranges::sort(claims, {}, &claim::from);
    // By name, of those so far, the one that ends last: of all, and of those who were alone.
    std::map<std::string, const claim*> last, last_alone;
    std::vector<std::string> found;
    for (const claim& next : claims) {
        const claim*& any = last[next.name];
        const claim*& alone = last_alone[next.name];
        const claim* before = next.is_shared ? alone : any;
        if (before != nullptr && next.from < before->until && next.worker != before->worker)
            found.push_back(next.worker + " held " + next.name + " from " +
                            std::to_string(next.from.count()) + ", and " + before->worker +
                            " until " + std::to_string(before->until.count()));
        if (any == nullptr || next.until > any->until)
            any = &next;
        if (!next.is_shared && (alone == nullptr || next.until > alone->until))
            alone = &next;
    }
    return found;
}

std::vector<std::string> overdrawn(std::vector<claim> claims, std::int64_t permits) {
    std::erase_if(claims, [](const claim& each) { return each.permits == 0; });
    std::multimap<moment, std::pair<std::string, std::int64_t>> changes;
    for (const claim& each : claims) // at the same moment, what comes back is before what goes
        changes.emplace(each.until, std::pair{each.name, -each.permits});
    for (const claim& each : claims)
        changes.emplace(each.from, std::pair{each.name, each.permits});
    std::map<std::string, std::int64_t> out;
    std::vector<std::string> found;
    for (const auto& [at, change] : changes)
        if ((out[change.first] += change.second) > permits && change.second > 0)
            found.push_back(std::to_string(out[change.first]) + " permits of " + change.first +
                            " were out at " + std::to_string(at.count()));
    return found;
}

std::vector<std::string> tokens_out_of_order(std::vector<claim> claims) {
    std::erase_if(claims, [](const claim& each) { return each.token == 0; });
    std::ranges::sort(claims, {}, &claim::from);
    std::vector<const claim*> ended;
    for (const claim& each : claims)
        ended.push_back(&each);
    std::ranges::sort(ended, {}, &claim::until);
    auto next_ended = ended.begin();
    std::map<std::string, const claim*> highest; // by name: of those that have ended
    std::vector<std::string> found;
    for (const claim& each : claims) {
        for (; next_ended != ended.end() && (*next_ended)->until <= each.from; ++next_ended) {
            const claim*& before = highest[(*next_ended)->name];
            if (before == nullptr || before->token < (*next_ended)->token)
                before = *next_ended;
        }
        const claim* before = highest[each.name];
        if (before != nullptr && each.token <= before->token)
            found.push_back(each.worker + " held " + each.name + " with the token " +
                            std::to_string(each.token) + ", after " + before->worker + " with " +
                            std::to_string(before->token));
    }
    return found;
}

std::vector<std::string> history_tail::new_grants() {
    std::ifstream lines{file_};
    lines.seekg(read_);
    std::vector<std::string> names;
    for (std::string line; std::getline(lines, line) && !lines.eof();) {
        read_ += static_cast<std::streamoff>(line.size()) + 1;
        std::istringstream words{line};
        std::string ns, what, name;
        words >> ns >> what >> name;
        constexpr std::array<std::string_view, 4> granted{"holds", "shares", "drew", "passed"};
        if (std::ranges::find(granted, what) != granted.end())
            names.push_back(name);
    }
    return names;
}

namespace {

using namespace std::chrono_literals;

/// For so long at most a server carries out what a process had sent before it was killed.
constexpr auto under_way = 5s;

const std::map<std::string, deed::kind>& beginnings() {
    static const std::map<std::string, deed::kind> all{{"draws", deed::kind::draw},
                                                       {"sets", deed::kind::set},
                                                       {"counts-down", deed::kind::count_down},
                                                       {"waits", deed::kind::wait}};
    return all;
}

/// How each is told that it was done.
const std::map<deed::kind, std::string>& endings() {
    static const std::map<deed::kind, std::string> all{{deed::kind::draw, "drew"},
                                                       {deed::kind::set, "set"},
                                                       {deed::kind::count_down, "counted-down"},
                                                       {deed::kind::wait, "passed"}};
    return all;
}

} // namespace

bool deeds_reading::is_one(const std::string& what) const {
    return beginnings().contains(what) || (begun_ && what != "failed");
}

void deeds_reading::line(moment at, const std::string& what, const std::string& name,
                         std::istringstream& words) {
    const auto found = beginnings().find(what);
    if (!begun_ && found != beginnings().end())
        return begin(at, found->second, name, words);
    if (!begun_ || begun_->name != name)
        throw std::runtime_error{worker_ + " " + what + " " + name + " here?"};
    end(at, what);
}

void deeds_reading::begin(moment at, deed::kind what, const std::string& name,
                          std::istringstream& words) {
    begun_ = deed{what, worker_, name, 1, at, at};
    if (what == deed::kind::draw || what == deed::kind::set)
        words >> begun_->amount;
}

void deeds_reading::end(moment at, const std::string& what) {
    const bool done = what == endings().at(begun_->what);
    const bool is_wait = begun_->what == deed::kind::wait || begun_->what == deed::kind::draw;
    if (done && is_wait)
        made_.waits.push_back(
            std::chrono::duration_cast<std::chrono::microseconds>(at - begun_->asked));
    else if (what == "overtaken" && begun_->what == deed::kind::draw)
        ++made_.overtaken[begun_->name];
    else if (what == "gives-up" && is_wait)
        ++made_.gave_up;
    else if (!done && what != "gives-up")
        throw std::runtime_error{worker_ + " " + what + " " + begun_->name + " here?"};
    begun_->told = at;
    begun_->how = done ? deed::outcome::done : deed::outcome::denied;
    made_.deeds.push_back(*begun_);
    begun_.reset();
}

history deeds_reading::finished(std::optional<moment> killed_at) {
    if (killed_at)
        cut_off(*killed_at);
    else if (begun_)
        made_.troubles.push_back(worker_ + " ended while it asked " + begun_->name);
    begun_.reset();
    return std::move(made_);
}

void deeds_reading::cut_off(moment killed_at) {
    const auto doubt = [&](deed& which) {
        which.told = std::max(which.asked, killed_at) + under_way;
        which.how = deed::outcome::unknown;
    };
    for (deed& each : made_.deeds)
        if (each.what == deed::kind::draw && each.how == deed::outcome::denied &&
            may_not_be_back(each.told, killed_at))
            doubt(each);
    if (!begun_)
        return;
    if (begun_->what == deed::kind::wait)
        begun_->told = std::max(begun_->asked, killed_at); // it was not let through until then
    else
        doubt(*begun_);
    made_.deeds.push_back(*begun_);
}

} // namespace holdfast::interop
