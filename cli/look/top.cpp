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
#include <condition_variable>
#include <csignal>
#include <functional>
#include <iostream>
#include <mutex>
#include <span>
#include <sstream>
#include <stop_token>
#include <thread>
#include <utility>

#include <unistd.h>

namespace cli {
namespace {

using holdfast::active_order;
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
      --limit N        show at most N locks (default 100): the first in this
                       order
      --json           for programs: one object per line and second: {"time",
                       "locks": [...], "complete", "requests", "failure",
                       "server"}; each lock is an object as printed by 'holdfast
                       inspect --json'; "requests" is the number of requests
                       that this program sent to the server for the line, or
                       null if it is not known; if the server stops replying
                       after the first line, "failure" says why, "locks" is
                       empty, and the program asks again
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
  Up, Down, PgUp, PgDn choose a lock
  Enter                show all information about this lock; Esc goes back
  p                    pause: keep the table as it is; p again continues
  q                    quit

Exit status:
    0   the table was printed; if it is not complete, stderr says so
   64   the command line or a variable is wrong
   69   the server cannot be reached at the start, or refuses the request

Examples:
  holdfast top
  holdfast top --sort held shop:
  holdfast top --json --count 1 | jq -r '.locks[].name'
)";

/// Words for the values of `active_order`.
constexpr std::array<std::string_view, 3> order_words{"wait", "held", "name"};

std::string_view word_for(active_order by) {
    return order_words[static_cast<std::size_t>(by)];
}

struct top_options {
    std::string text{}; ///< the names of the locks contain it
    active_order by = active_order::wait;
    std::size_t limit = 100;
    std::size_t count = 0; ///< number of JSON lines; 0: no end
};

/// Describes the holder. For several readers, gives their number and the reader with the longest
/// hold.
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

table table_of(std::span<const lock_state* const> locks) {
    constexpr std::size_t name_least = 16, holder_least = 8;
    table lines{{{"NAME", name_least},
                 {"KIND"},
                 {"HOLDER", holder_least},
                 {"HELD"},
                 {"LEASE"},
                 {"WAITING"},
                 {"OLDEST"},
                 {"TOKEN"}}};
    for (const lock_state* const each : locks)
        lines.add(
            {each->name,
             each->kind == holdfast::key_kind::read_write_lock ? "rw lock" : kind_in_words(*each),
             holder_of(*each), or_dash(longest_hold(*each)),
             each->is_held ? left_in_words(*each) : "-", std::to_string(waiter_count(*each)),
             or_dash(longest_wait(*each)), token_of(*each)});
    return lines;
}

/// Asks the server for the locks. Removes the prefix of the URL from their names. Leaves out a lock
/// whose name is only the prefix: holdfast refuses empty names, so no verb could show this lock.
lock_list ask_for_locks(holdfast::client& home, const std::string& server, const top_options& how) {
    lock_list found = home.list_active(how.limit, how.by, how.text);
    const std::string prefix = prefix_of(server);
    for (lock_state& each : found.locks)
        each.name = without_prefix(std::move(each.name), prefix);
    std::erase_if(found.locks, [](const lock_state& each) { return each.name.empty(); });
    return found;
}

/// Locks of a list that are shown, in the order in which they are shown.
using shown_locks = std::vector<const lock_state*>;

void sort_by(active_order by, shown_locks& locks) {
    if (by == active_order::name)
        return std::ranges::stable_sort(locks, {}, &lock_state::name), void();
    const auto ages_of = [by](const lock_state& lock) {
        constexpr duration unknown{-1};
        const duration wait = longest_wait(lock).value_or(unknown);
        const duration held = longest_hold(lock).value_or(unknown);
        return by == active_order::wait ? std::pair{wait, held} : std::pair{held, wait};
    };
    std::vector<std::pair<std::pair<duration, duration>, const lock_state*>> aged;
    aged.reserve(locks.size());
    for (const lock_state* const each : locks) // compute each age once
        aged.emplace_back(ages_of(*each), each);
    std::ranges::stable_sort(aged, std::ranges::greater{},
                             [](const auto& each) { return each.first; });
    std::ranges::transform(aged, locks.begin(), [](const auto& each) { return each.second; });
}

/// Returns the locks to show, sorted by all that the server reports about them. The user may have
/// typed another text since the question. The result refers to `all`.
shown_locks shown_of(const lock_list& all, const top_options& how) {
    shown_locks locks;
    for (const lock_state& each : all.locks)
        if (each.name.find(how.text) != each.name.npos)
            locks.push_back(&each);
    sort_by(how.by, locks);
    return locks;
}

/// Prints the table once. Says on stderr if it is not complete.
void print_top_table(const lock_list& found, const top_options& how) {
    const shown_locks shown = shown_of(found, how);
    if (!shown.empty())
        table_of(shown).print(std::cout, form_of(STDOUT_FILENO));
    std::cout.flush();
    if (!found.complete)
        say("the list is not complete: there are more than " + how_many(how.limit, "lock") +
            ", or not all clients could be asked; give a TEXT or --limit");
}

/// Prints a JSON line. `failure` says why the server did not reply, or is empty.
void print_top_line(const lock_list& found, const std::string& failure, const top_options& how,
                    const std::string& server) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    boost::json::array locks;
    for (const lock_state* const each : shown_of(found, how))
        locks.push_back(to_json(*each));
    boost::json::object line{
        {"time", date_in_json(std::chrono::floor<std::chrono::seconds>(now))},
        {"locks", std::move(locks)},
        {"complete", found.complete},
        {"requests", found.requests != 0 ? boost::json::value(found.requests) : nullptr},
        {"failure", failure.empty() ? nullptr : boost::json::value(text_in_json(failure))},
        {"server", text_in_json(without_password(server))}};
    write_json(line);
    std::cout.flush();
}

/// Prints a JSON line once a second. Returns after `count` lines, or if stdout cannot be written.
/// Throws the error of the first question. A later error is printed as a line.
void print_top_lines(holdfast::client& home, const top_options& how, const std::string& server) {
    holdfast::time_point next = holdfast::boot_clock::now();
    for (std::size_t lines = 1;; ++lines) {
        try {
            print_top_line(ask_for_locks(home, server, how), {}, how, server);
        } catch (const boost::system::system_error& why) {
            if (lines == 1)
                throw;
            print_top_line({.complete = false}, reason_in_words(why), how, server);
        }
        if (lines == how.count || !std::cout)
            return;
        next = std::max(next + 1s, holdfast::boot_clock::now());
        std::this_thread::sleep_for(next - holdfast::boot_clock::now());
    }
}

/// Question of the screen to the server.
struct top_question {
    std::optional<std::string> name{}; ///< name of the lock; empty: the list
    top_options how{};                 ///< for the list
};

/// Answer of the server to a question of the screen.
struct top_answer {
    std::optional<std::string> name{}; ///< name of the lock in the question; empty: the list
    std::optional<lock_list> list{};   ///< set if the question was for the list
    top_options how{};                 ///< those of the question
    std::string text{};                ///< all information about the lock in the question
    std::string failure{};             ///< why there is no answer; empty: there is one
};

/// Sends questions to the server on its own thread, so that keys work while the server does not
/// reply. There is at most one question at a time. Call the functions from one thread.
class top_asker {
public:
    /// `ask(question)` returns the answer of the server. `done` is called after each answer. Both
    /// run on the asker's thread.
    using asking = std::function<top_answer(const top_question&)>;
    top_asker(asking ask, std::function<void()> done)
        : ask_{std::move(ask)}
        , done_{std::move(done)} {}

    /// Sends a question, unless the previous question has no answer yet.
    void start(top_question question) {
        const std::scoped_lock guard{mutex_};
        if (asked_)
            return;
        asked_ = true;
        question_ = std::move(question);
        since_ = holdfast::boot_clock::now();
        changed_.notify_one();
    }

    /// Returns the answer if it is new.
    std::optional<top_answer> take() {
        const std::scoped_lock guard{mutex_};
        if (answer_)
            asked_ = false;
        return std::exchange(answer_, std::nullopt);
    }

    bool is_busy() const { return asked_; }

    /// Returns how long the open question has waited for its answer.
    duration waited() const {
        return asked_ ? holdfast::boot_clock::now() - since_ : duration::zero();
    }

private:
    void run(const std::stop_token& over) {
        for (std::unique_lock guard{mutex_};;) {
            if (!changed_.wait(guard, over, [this] { return asked_ && !answer_; }))
                return;
            guard.unlock();
            top_answer said = ask_(question_);
            guard.lock();
            answer_ = std::move(said);
            done_();
        }
    }

    const asking ask_;
    const std::function<void()> done_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool asked_ = false;
    top_question question_{};
    holdfast::time_point since_{};
    std::optional<top_answer> answer_{};
    std::jthread thread_{[this](const std::stop_token& over) { run(over); }};
};

/// Divides the text into lines of at most `columns` columns. If a line is too long, its rest is
/// indented like the values of `print_lock`. Each line has room for a wide character beside the
/// indentation, except in a window of one column.
std::vector<std::string> wrapped_lines_in(const std::string& text, std::size_t columns) {
    constexpr std::size_t like_values = 11, widest_character = 2;
    const std::size_t indentation =
        std::min({like_values, columns / 2, columns - std::min(columns, widest_character)});
    std::vector<std::string> lines;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);) {
        std::string_view rest = line;
        for (std::size_t before = 0;; before = indentation) {
            std::string_view first = columns_of(rest, columns - before);
            const bool is_cut = first.size() < rest.size();
            if (const std::size_t blank = first.rfind(' ');
                is_cut && blank != first.npos && before + blank > indentation)
                first = first.substr(0, blank);
            lines.push_back(std::string(before, ' ').append(first));
            rest.remove_prefix(first.size());
            rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
            if (rest.empty())
                break;
        }
    }
    return lines;
}

/// Returns all information about the opened lock as text. `lock` is empty if the lock is free.
std::string text_of(const std::string& name, std::optional<lock_state> lock) {
    if (!lock)
        return "'" + printable(name, name.size()) + "' is free\n";
    lock->name = name; // without the prefix of the URL
    std::ostringstream text;
    print_lock(text, *lock);
    return text.str();
}

/// The full screen of `holdfast top`: what it shows, and what the keys do.
class top_screen {
public:
    top_screen(holdfast::client& home, const std::string& server, top_options how)
        : home_{home}
        , server_{server}
        , how_{std::move(how)} {}

    /// Cancels an open question, so that the asker's thread can end.
    ~top_screen() {
        if (asker_.is_busy())
            home_.close();
    }
    top_screen(const top_screen&) = delete;

    /// Shows the table until the user quits. `first` is the first list. Returns the signal that
    /// ended the screen, or 0.
    int run(lock_list first) {
        show(std::move(first));
        next_ = holdfast::boot_clock::now() + period;
        while (!quits_) {
            draw();
            const full_screen::pressed pressed = screen_.read_key(next_);
            if (pressed.which != full_screen::key::none)
                take(pressed);
            if (std::optional<top_answer> said = asker_.take())
                take(std::move(*said));
            if (holdfast::boot_clock::now() < next_)
                continue;
            if (!paused_)
                asker_.start({opened_, how_});
            next_ = holdfast::boot_clock::now() + period;
        }
        return screen_.ended_by();
    }

private:
    static constexpr duration period = 1s;
    /// Time without a reply after which the screen says so.
    static constexpr duration silence_max = 2s;
    static constexpr std::size_t head_lines = 3; ///< lines above the first lock, with the titles

    top_answer ask(const top_question& question) {
        const auto& [name, how] = question;
        try {
            if (!name)
                return {.list = ask_for_locks(home_, server_, how), .how = how};
            return {.name = name, .text = text_of(*name, home_.inspect(*name))};
        } catch (const boost::system::system_error& why) {
            return {.name = name, .failure = reason_in_words(why)};
        }
    }

    void take(top_answer said) {
        next_ = holdfast::boot_clock::now() + period; // a slow server is asked less often
        const bool is_old_list =
            said.list && (said.how.text != how_.text || said.how.by != how_.by);
        if (said.name != opened_ || is_old_list)
            ask_soon(); // the user has meanwhile opened or left a lock, or wants another list
        failure_ = std::move(said.failure);
        if (!failure_.empty())
            return;
        answered_at_ = holdfast::boot_clock::now();
        if (said.list && !is_old_list && !paused_)
            show(std::move(*said.list));
        if (said.name && said.name == opened_ && !(paused_ && known_)) {
            show_opened(std::move(said.text));
            known_ = true;
        }
    }

    void show(lock_list found) {
        found_ = std::move(found);
        shown_ = shown_of(found_, how_);
    }

    void show_opened(std::string text) {
        text_ = std::move(text);
        wrapped_in_ = 0;
    }

    std::string head() const {
        std::string line = "holdfast top: " + how_many(shown_.size(), "lock") + ", sorted by " +
                           std::string{word_for(how_.by)};
        if (paused_)
            line += ", paused";
        else if (found_.requests != 0 && !opened_)
            line += ", " + how_many(found_.requests, "request") + "/s";
        if (!found_.complete)
            line += ", incomplete";
        line += " on " + server_in_words(server_);
        return printable(line, line.size());
    }

    std::string foot() const {
        constexpr std::size_t longest = 500;
        const bool waits = asker_.waited() > silence_max;
        if (waits || !failure_.empty())
            return printable("no reply for " +
                                 in_words(holdfast::boot_clock::now() - answered_at_) +
                                 (failure_.empty() ? "" : ": " + failure_),
                             longest);
        if (opened_)
            return "Esc back, Up and Down scroll, p pause, q quit";
        if (typing_ || !how_.text.empty())
            return printable("/" + how_.text, longest) + (typing_ ? "_" : "");
        return "s sort, / filter, Enter open, p pause, q quit";
    }

    void draw() {
        const auto [columns, rows] = screen_.size();
        std::vector<std::string> lines{head(), foot()};
        std::optional<std::size_t> marked;
        if (opened_)
            add_opened(lines, columns, rows);
        else
            marked = add_table(lines, columns, rows);
        screen_.draw(lines, marked);
    }

    /// Appends all information about the opened lock, as far as it fits on the screen. The text is
    /// divided into lines only if it or the width of the screen has changed.
    void add_opened(std::vector<std::string>& lines, std::size_t columns, std::size_t rows) {
        if (std::exchange(wrapped_in_, columns) != columns)
            wrapped_ = wrapped_lines_in(text_, columns);
        const std::size_t room = rows - std::min(rows, lines.size());
        scrolled_ = std::min(scrolled_, wrapped_.size() - std::min(wrapped_.size(), room));
        const auto first = wrapped_.begin() + static_cast<std::ptrdiff_t>(scrolled_);
        const std::size_t count = std::min(room, wrapped_.size() - scrolled_);
        lines.insert(lines.end(), first, first + static_cast<std::ptrdiff_t>(count));
    }

    /// Returns the index of the chosen lock, or of the first lock if the chosen lock is not shown.
    std::size_t chosen_index() const {
        const auto at = std::ranges::find(shown_, chosen_, &lock_state::name);
        return at == shown_.end() ? 0 : static_cast<std::size_t>(at - shown_.begin());
    }

    /// Appends the table, as far as it fits on the screen. Returns the index of the chosen line.
    std::optional<std::size_t> add_table(std::vector<std::string>& lines, std::size_t columns,
                                         std::size_t rows) {
        room_ = std::max<std::size_t>(rows, head_lines + 1) - head_lines;
        const std::size_t index = chosen_index();
        const std::size_t first = index < room_ ? 0 : index - room_ + 1;
        const std::span<const lock_state* const> fitting =
            std::span{shown_}.subspan(first, std::min(room_, shown_.size() - first));
        std::ostringstream text;
        table_of(fitting).print(text, {columns, false, false});
        std::istringstream in{text.str()};
        for (std::string line; std::getline(in, line);)
            lines.push_back(line);
        if (shown_.empty())
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
        case key::page_up:
            return move(false, pressed.which == key::up ? 1 : room_);
        case key::down:
        case key::page_down:
            return move(true, pressed.which == key::down ? 1 : room_);
        case key::enter:
            return open();
        case key::escape:
            return go_back();
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
            pause();
        else if (letter == 's' && !opened_)
            sort_by_next();
        else if (letter == '/' && !opened_)
            typing_ = true;
    }

    void pause() {
        paused_ = !paused_;
        if (!paused_)
            ask_soon();
    }

    /// Sorts the table by the next column, and asks for the first locks in this order.
    void sort_by_next() {
        how_.by =
            static_cast<active_order>((static_cast<std::size_t>(how_.by) + 1) % order_words.size());
        shown_ = shown_of(found_, how_);
        ask_soon();
    }

    /// Changes the text that the names must contain, and asks for all locks with these names.
    void type(full_screen::pressed pressed) {
        using key = full_screen::key;
        if (pressed.which == key::enter || pressed.which == key::escape)
            typing_ = false;
        if (pressed.which == key::escape)
            how_.text.clear();
        if (pressed.which == key::backspace)
            remove_last_letter(how_.text);
        if (pressed.which == key::character)
            how_.text += pressed.letter;
        shown_ = shown_of(found_, how_);
        ask_soon();
    }

    /// Chooses another lock, or scrolls the information about the opened lock.
    void move(bool down, std::size_t lines) {
        const auto moved = [&](std::size_t from, std::size_t last) {
            return down ? std::min(from + lines, last) : from - std::min(from, lines);
        };
        if (opened_) {
            scrolled_ = moved(scrolled_, scrolled_ + lines); // draw() knows the last line
            return;
        }
        if (!shown_.empty())
            chosen_ = shown_[moved(chosen_index(), shown_.size() - 1)]->name;
    }

    void open() {
        if (opened_ || shown_.empty())
            return;
        opened_ = chosen_ = shown_[chosen_index()]->name;
        show_opened("'" + printable(*opened_, opened_->size()) + "' ...\n");
        known_ = false;
        scrolled_ = 0;
        ask_soon();
    }

    void go_back() {
        opened_.reset();
        ask_soon();
    }

    /// Asks the server now, unless the table is paused. If the previous question has no answer yet,
    /// take() or the next period asks after that answer.
    void ask_soon() {
        if (paused_ && !opened_)
            return;
        asker_.start({opened_, how_});
        next_ = holdfast::boot_clock::now() + period;
    }

    holdfast::client& home_;
    const std::string server_;
    top_options how_;
    full_screen screen_;
    lock_list found_{};
    holdfast::time_point next_{}; ///< time of the next question
    holdfast::time_point answered_at_ = holdfast::boot_clock::now();
    shown_locks shown_{};                 ///< locks of `found_` in the table, in its order
    std::string chosen_{};                ///< name of the chosen lock; empty: the first lock
    std::optional<std::string> opened_{}; ///< name of the lock that is shown alone
    std::string text_{};                  ///< information about that lock
    bool known_ = false;                  ///< `text_` is an answer of the server
    std::vector<std::string> wrapped_{};  ///< lines of `text_`
    std::size_t wrapped_in_ = 0;          ///< width of `wrapped_`; 0: `text_` has changed
    std::size_t scrolled_ = 0;            ///< number of hidden lines above the opened lock
    std::size_t room_ = 1;                ///< number of locks that fit on the screen
    std::string failure_{};
    bool typing_ = false, paused_ = false, quits_ = false;
    top_asker asker_{[this](const top_question& question) { return ask(question); },
                     full_screen::wake};
};

active_order order_in(const std::string& word) {
    const auto found = std::ranges::find(order_words, word);
    if (found == order_words.end())
        throw usage_error{"--sort: '" + printable(word) +
                          "' is not a sort key; give wait, held or name"};
    return static_cast<active_order>(found - order_words.begin());
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
    expected.add_option("TEXT", how.text);
    if (!parse_look(expected, given, lock_word::none, std::move(all), top_help))
        return success;
    how.by = order_in(by);
    if (how.count != 0 && !given.json)
        throw usage_error{"--count works only with --json"};
    return ask_server(inherited, given, [&](holdfast::client& home) {
        if (given.json) {
            print_top_lines(home, how, given.server);
            return int{success};
        }
        lock_list found = answer_of_server([&] { return ask_for_locks(home, given.server, how); });
        if (full_screen::is_possible()) {
            const int by_signal = top_screen{home, given.server, how}.run(std::move(found));
            if (by_signal != 0)
                ::raise(by_signal); // end by the signal, as other verbs do
            return int{success};
        }
        print_top_table(found, how);
        return int{success};
    });
}

} // namespace cli
