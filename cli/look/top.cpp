// SPDX-License-Identifier: Apache-2.0
// `holdfast top`: shows once a second which locks are held or waited for, and since when.
#include "cli/command_line.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/look/looking.hpp"
#include "cli/terminal/full_screen.hpp"
#include "cli/terminal/output.hpp"
#include "cli/text/text.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <sstream>
#include <thread>
#include <utility>

#include <unistd.h>

namespace cli {
namespace {

using holdfast::duration;
using holdfast::lock_list;
using holdfast::lock_state;
using namespace std::chrono_literals;

constexpr std::string_view top_help =
    R"(Shows the locks that programs have held or waited for during more than a second,
once a second. The locks with the oldest waits come first. On Redis, holdfast
programs report their own holds and waits to the server, so this program does
not search the server's keys. Locks of other programs are shown while a holdfast
program waits for them. On MySQL and ZooKeeper, programs report nothing: the
held locks are listed, without the times HELD and OLDEST.

Usage: holdfast top [OPTIONS] [TEXT]

  TEXT                 show only names that contain this text
      --sort KEY       sort by 'wait' (the oldest wait; this is the default),
                       'held' (the longest hold) or 'name'
      --limit N        show at most N locks (default 100)
      --json           for programs: one object per line and second: {"time",
                       "locks": [...], "complete", "requests", "server"}; each
                       lock is an object as printed by 'holdfast inspect
                       --json'; "requests" is the number of requests that this
                       program sent to the server for the line, or null if it is
                       not known
      --count N        with --json, end after N lines
      --url URL        the server, as for 'holdfast run'; it cannot be a quorum
  -h, --help           print this text

On a terminal, the table fills the screen, and the first line says how many
requests this program sends to the server each second. Otherwise the table is
printed once. HELD is how long the holder has had the lock; LEASE is the rest of
its lease. WAITING is the number of known waiters, and OLDEST the longest time
that one of them has waited. TOKEN is the fencing token.

Keys on a terminal:
  s                    sort by the next column: wait, held, name
  /                    type a text that the names must contain; Enter ends it
  Up, Down             choose a lock
  Enter                show all information about this lock; Esc goes back
  p                    pause: keep the table as it is; p again continues
  q                    quit

Exit status:
    0   the table was printed
   64   the command line or a variable is wrong
   69   the server cannot be reached, or refuses the request

Examples:
  holdfast top
  holdfast top --sort held shop:
  holdfast top --json --count 1 | jq -r '.locks[].name'
)";

enum class top_order { wait, held, name };
constexpr std::array<std::string_view, 3> order_words{"wait", "held", "name"};

std::string_view word_for(top_order by) {
    return order_words[static_cast<std::size_t>(by)];
}

struct top_options {
    std::string text{};
    top_order by = top_order::wait;
    std::size_t limit = 100;
    std::size_t count = 0; ///< number of JSON lines; 0: no end
};

void sort_by(top_order by, std::vector<lock_state>& locks) {
    const auto age = [](const std::optional<duration>& time) {
        return time.value_or(duration{-1});
    };
    if (by == top_order::name)
        return std::ranges::stable_sort(locks, {}, &lock_state::name), void();
    std::ranges::stable_sort(locks, std::ranges::greater{}, [&](const lock_state& each) {
        const duration wait = age(longest_wait(each)), held = age(longest_hold(each));
        return by == top_order::wait ? std::pair{wait, held} : std::pair{held, wait};
    });
}

/// Describes the holder. Several readers are counted, and the reader with the longest hold is
/// named.
std::string holder_of(const lock_state& lock) {
    if (!lock.is_held)
        return "nobody";
    const bool are_readers = lock.owners.size() > 1 && !lock.owners.front().writes;
    if (!are_readers)
        return owners_in_short(lock);
    const auto oldest = std::ranges::max_element(lock.owners, {}, &holdfast::lock_owner::held_for);
    return std::to_string(lock.owners.size()) + " readers, " + owner_in_short(*oldest) +
           (oldest->held_for ? " oldest" : "");
}

std::string token_of(const lock_state& lock) {
    const std::uint64_t token = lock.token != 0 ? lock.token : lock.last_token;
    return token != 0 ? std::to_string(token) : "-";
}

table table_of(const std::vector<lock_state>& locks) {
    constexpr std::size_t name_least = 16, holder_least = 8;
    table lines{{{"NAME", name_least},
                 {"KIND"},
                 {"HOLDER", holder_least},
                 {"HELD"},
                 {"LEASE"},
                 {"WAITING"},
                 {"OLDEST"},
                 {"TOKEN"}}};
    for (const lock_state& each : locks)
        lines.add(
            {each.name,
             each.kind == holdfast::key_kind::read_write_lock ? "rw lock" : kind_in_words(each),
             holder_of(each), or_dash(longest_hold(each)), each.is_held ? left_in_words(each) : "-",
             std::to_string(waiter_count(each)), or_dash(longest_wait(each)), token_of(each)});
    return lines;
}

/// Asks the server for the locks. Removes the prefix of the URL from their names.
lock_list ask_for_locks(holdfast::client& home, const std::string& server, const top_options& how) {
    lock_list found = home.list_active(how.limit);
    const std::string prefix = prefix_of(server);
    for (lock_state& each : found.locks)
        each.name = without_prefix(std::move(each.name), prefix);
    return found;
}

/// Returns the locks that are shown: their names contain the text, and they are sorted.
std::vector<lock_state> shown_of(const lock_list& all, const top_options& how) {
    std::vector<lock_state> locks = all.locks;
    std::erase_if(
        locks, [&](const lock_state& each) { return each.name.find(how.text) == each.name.npos; });
    sort_by(how.by, locks);
    return locks;
}

void print_top_line(const lock_list& found, const top_options& how, const std::string& server) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    boost::json::array locks;
    for (const lock_state& each : shown_of(found, how))
        locks.push_back(to_json(each));
    boost::json::object line{
        {"time", date_in_json(std::chrono::floor<std::chrono::seconds>(now))},
        {"locks", std::move(locks)},
        {"complete", found.complete},
        {"requests", found.requests != 0 ? boost::json::value(found.requests) : nullptr},
        {"server", text_in_json(without_password(server))}};
    write_json(line);
    std::cout.flush();
}

/// Prints a JSON line once a second. Returns after `count` lines, or if stdout cannot be written.
void print_top_lines(holdfast::client& home, const top_options& how, const std::string& server) {
    holdfast::time_point next = holdfast::boot_clock::now();
    for (std::size_t lines = 1;; ++lines) {
        print_top_line(ask_for_locks(home, server, how), how, server);
        if (lines == how.count || !std::cout)
            return;
        next = std::max(next + 1s, holdfast::boot_clock::now());
        std::this_thread::sleep_for(next - holdfast::boot_clock::now());
    }
}

std::vector<std::string> lines_in(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

/// The full screen of `holdfast top`: what it shows, and what the keys do.
class top_screen {
public:
    top_screen(holdfast::client& home, const std::string& server, top_options how)
        : home_{home}
        , server_{server}
        , how_{std::move(how)} {}

    /// Shows the table until the user quits. `first` is the first list.
    void run(lock_list first) {
        found_ = std::move(first);
        holdfast::time_point next = holdfast::boot_clock::now() + period;
        while (!quits_) {
            draw();
            const full_screen::pressed pressed = screen_.read_key(next);
            if (pressed.which != full_screen::key::none)
                take(pressed);
            if (holdfast::boot_clock::now() < next)
                continue;
            if (!paused_)
                ask();
            next = holdfast::boot_clock::now() + period;
        }
    }

private:
    static constexpr duration period = 1s;
    static constexpr std::size_t head_lines = 3; ///< lines above the first lock, with the titles

    void ask() {
        failure_.clear();
        try {
            found_ = ask_for_locks(home_, server_, how_);
            opened_requests_ = 0;
            if (opened_)
                ask_for_opened();
        } catch (const boost::system::system_error& why) {
            failure_ = reason_in_words(why);
        }
    }

    void ask_for_opened() {
        constexpr std::size_t requests_of_inspect = 4;
        state_ = home_.inspect(*opened_);
        if (state_)
            state_->name = *opened_;
        opened_requests_ = requests_of_inspect;
    }

    std::string head(std::size_t count) const {
        std::string line = "holdfast top: " + how_many(count, "lock") + " on " +
                           server_in_words(server_) + ", sorted by " +
                           std::string{word_for(how_.by)};
        if (paused_)
            line += ", paused";
        else if (found_.requests != 0)
            line += ", " + how_many(found_.requests + opened_requests_, "request") + "/s";
        if (!found_.complete)
            line += ", incomplete";
        return printable(line, line.size());
    }

    std::string foot() const {
        if (!failure_.empty())
            return printable("the server does not reply: " + failure_, 500);
        if (typing_ || !how_.text.empty())
            return printable("/" + how_.text, 500) + (typing_ ? "_" : "");
        return opened_ ? "Esc back, p pause, q quit"
                       : "s sort, / filter, Enter open, p pause, q quit";
    }

    void draw() {
        std::vector<lock_state> locks = shown_of(found_, how_);
        const auto [columns, rows] = screen_.size();
        std::vector<std::string> lines{head(locks.size()), foot()};
        std::optional<std::size_t> marked;
        if (opened_) {
            std::ostringstream text;
            if (state_)
                print_lock(text, *state_);
            else
                text << "'" << printable(*opened_) << "' is free\n";
            std::ranges::move(lines_in(text.str()), std::back_inserter(lines));
        } else {
            marked = add_table(lines, locks, columns, rows);
        }
        screen_.draw(lines, marked);
    }

    /// Appends the table, as far as it fits on the screen. Returns the index of the chosen line.
    std::optional<std::size_t> add_table(std::vector<std::string>& lines,
                                         std::vector<lock_state>& locks, std::size_t columns,
                                         std::size_t rows) {
        const std::size_t room = std::max<std::size_t>(rows, head_lines + 1) - head_lines;
        const auto at = std::ranges::find(locks, chosen_, &lock_state::name);
        std::size_t index = at == locks.end() ? 0 : static_cast<std::size_t>(at - locks.begin());
        names_.clear();
        for (const lock_state& each : locks)
            names_.push_back(each.name);
        const std::size_t first = index < room ? 0 : index - room + 1;
        locks.erase(locks.begin(), locks.begin() + static_cast<std::ptrdiff_t>(first));
        locks.resize(std::min(locks.size(), room));
        std::ostringstream text;
        table_of(locks).print(text, {columns, false, false});
        std::ranges::move(lines_in(text.str()), std::back_inserter(lines));
        if (names_.empty())
            return std::nullopt;
        return head_lines + index - first;
    }

    void take(full_screen::pressed pressed) {
        using key = full_screen::key;
        if (pressed.which == key::quit)
            quits_ = true;
        if (typing_)
            return type(pressed);
        switch (pressed.which) {
        case key::up:
        case key::down:
            return choose(pressed.which == key::down);
        case key::enter:
            return open();
        case key::escape:
            opened_.reset();
            return;
        case key::character:
            return command(pressed.letter);
        case key::none:
        case key::quit:
        case key::backspace:
            return;
        }
    }

    void command(char letter) {
        if (letter == 'q')
            quits_ = true;
        else if (letter == 'p')
            paused_ = !paused_;
        else if (letter == 's')
            how_.by = static_cast<top_order>((static_cast<std::size_t>(how_.by) + 1) %
                                             order_words.size());
        else if (letter == '/' && !opened_)
            typing_ = true;
    }

    /// Changes the text that the names must contain.
    void type(full_screen::pressed pressed) {
        using key = full_screen::key;
        if (pressed.which == key::enter || pressed.which == key::escape)
            typing_ = false;
        if (pressed.which == key::escape)
            how_.text.clear();
        if (pressed.which == key::backspace && !how_.text.empty())
            how_.text.pop_back();
        if (pressed.which == key::character)
            how_.text += pressed.letter;
    }

    void choose(bool next) {
        const auto at = std::ranges::find(names_, chosen_);
        const std::size_t index =
            at == names_.end() ? 0 : static_cast<std::size_t>(at - names_.begin());
        if (names_.empty())
            return;
        const std::size_t moved =
            next ? std::min(index + 1, names_.size() - 1) : index - std::min<std::size_t>(index, 1);
        chosen_ = names_[moved];
    }

    void open() {
        const bool is_there = std::ranges::find(names_, chosen_) != names_.end();
        if (!is_there && names_.empty())
            return;
        opened_ = is_there ? chosen_ : names_.front();
        state_.reset();
        try {
            ask_for_opened();
        } catch (const boost::system::system_error& why) {
            failure_ = reason_in_words(why);
        }
    }

    holdfast::client& home_;
    const std::string server_;
    top_options how_;
    full_screen screen_;
    lock_list found_{};
    std::vector<std::string> names_{};    ///< names in the table, in its order
    std::string chosen_{};                ///< name of the chosen lock; empty: the first lock
    std::optional<std::string> opened_{}; ///< name of the lock that is shown alone
    std::optional<lock_state> state_{};   ///< state of that lock; empty: it is free
    std::size_t opened_requests_ = 0;
    std::string failure_{};
    bool typing_ = false, paused_ = false, quits_ = false;
};

top_order order_in(const std::string& word) {
    const auto found = std::ranges::find(order_words, word);
    if (found == order_words.end())
        throw usage_error{"--sort: '" + printable(word) +
                          "' is no order; it can be wait, held or name"};
    return static_cast<top_order>(found - order_words.begin());
}

} // namespace

int top(const inheritance& inherited, arguments all) {
    look_options given;
    top_options how;
    std::string by = "wait";
    CLI::App expected{"", "top"};
    expected.add_option("--sort", by);
    expect_number(expected, "--limit", "--limit", 1, 100'000,
                  [&how](std::uint64_t number) { how.limit = static_cast<std::size_t>(number); });
    expect_number(expected, "--count", "--count", 1, 1'000'000'000,
                  [&how](std::uint64_t number) { how.count = static_cast<std::size_t>(number); });
    given.name = "*"; // an empty text is refused as a name
    if (!parse_look(expected, given, lock_word::optional, std::move(all), top_help))
        return success;
    how.by = order_in(by);
    how.text = given.name == "*" ? "" : given.name;
    if (how.count != 0 && !given.json)
        throw usage_error{"--count is for --json"};
    return ask_server(inherited, given, [&](holdfast::client& home) {
        if (given.json) {
            print_top_lines(home, how, given.server);
            return int{success};
        }
        lock_list found = answer_of_server([&] { return ask_for_locks(home, given.server, how); });
        if (full_screen::is_possible()) {
            top_screen{home, given.server, how}.run(std::move(found));
            return int{success};
        }
        const std::vector<lock_state> shown = shown_of(found, how);
        if (!shown.empty())
            print_list(table_of(shown));
        return int{success};
    });
}

} // namespace cli
