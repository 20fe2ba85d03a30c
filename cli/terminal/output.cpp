// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/output.hpp"

#include "cli/command_line.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/run/child_process.hpp"
#include "cli/text/text.hpp"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <mutex>
#include <numeric>
#include <ostream>
#include <stop_token>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cli {

void say(std::string_view text) {
    std::string line = "holdfast: ";
    line.append(text).append("\n");
    // A failed write to stderr cannot be reported.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

std::string printable(std::string_view text, std::size_t longest) {
    std::string shown = as_utf8(whole_letters(text, longest), "?");
    std::ranges::replace_if(
        shown, [](unsigned char c) { return std::iscntrl(c) != 0; }, '?');
    shown = without_commands(shown, [](char32_t) { return std::string{"?"}; });
    return text.size() > longest ? shown + "..." : shown;
}

std::string on_one_line(std::string_view text) {
    std::string line;
    for (const char each : text) {
        const bool blank = each == '\n' || each == '\r' || each == '\t' || each == ' ';
        if (!blank)
            line += each;
        else if (!line.empty() && line.back() != ' ')
            line += ' ';
    }
    if (line.ends_with(' '))
        line.pop_back();
    return line;
}

namespace {

/// Returns whether the terminal can move its cursor. A terminal of type `dumb` cannot do so, and
/// nothing is known about a terminal without a type.
bool can_move_its_cursor() {
    const char* const kind = std::getenv("TERM");
    return kind != nullptr && *kind != '\0' && std::string_view{kind} != "dumb";
}

/// Returns whether colours are allowed (https://no-color.org). A NO_COLOR that is set and not empty
/// forbids them.
bool colours_are_welcome() {
    const char* const forbidden = std::getenv("NO_COLOR");
    return forbidden == nullptr || *forbidden == '\0';
}

/// Returns whether stdout is a pipe that nobody reads. A failed output is then not reported.
bool reader_is_gone() {
    pollfd out{STDOUT_FILENO, 0, 0};
    return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

} // namespace

output_form form_of(int descriptor) {
    if (::isatty(descriptor) != 1)
        return {std::numeric_limits<std::size_t>::max(), false, false};
    constexpr std::size_t usual = 80;
    winsize size{};
    const bool told = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    const bool live = can_move_its_cursor();
    return {told ? size.ws_col : usual, live, live && colours_are_welcome()};
}

namespace {

using namespace std::chrono_literals;

bool is_in_foreground() {
    return ::tcgetpgrp(STDERR_FILENO) == ::getpgrp();
}

} // namespace

void draw_line(std::string_view text) {
    // Cut the line, because a wrapped line could not be overwritten.
    const std::string line = "\r" + cut(text, form_of(STDERR_FILENO).columns - 1) + "\x1b[K";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

waiting_line::waiting_line(std::string thing)
    : thing_{std::move(thing)}
    , live_{form_of(STDERR_FILENO).live} {}

waiting_line::~waiting_line() {
    clear();
}

void waiting_line::draw() {
    if (!live_ || !is_in_foreground())
        return;
    draw_line("holdfast: waiting for " + thing_ + ", " +
              in_words(holdfast::boot_clock::now() - since_));
    drawn_ = true;
}

void waiting_line::clear() {
    if (std::exchange(drawn_, false) && is_in_foreground())
        draw_line({});
}

bool wait_visibly(const std::string& thing, const std::function<bool()>& wait) {
    waiting_line line{thing};
    if (!line.is_live())
        return wait();
    const std::jthread drawing{[&line](const std::stop_token& over) {
        std::mutex mutex;
        std::condition_variable_any alarm;
        for (std::unique_lock guard{mutex}; !over.stop_requested();) {
            alarm.wait_for(guard, over, 1s, [] { return false; });
            if (!over.stop_requested())
                line.draw();
        }
    }};
    return wait();
}

void end_with_reader(const inheritance& inherited) {
    if (!inherited.ignores(SIGPIPE))
        ::signal(SIGPIPE, SIG_DFL);
}

int after_output(int status) {
    if (std::cout.flush())
        return status;
    if (!reader_is_gone())
        say("the output could not be written: is the disk full?");
    return unwritten;
}

namespace {

constexpr std::size_t gap = 2;

std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string shown =
            i == 0 ? cut_in_middle(cells[i], widths[i]) : cut(cells[i], widths[i]);
        line += shown;
        if (i + 1 < cells.size())
            line.append(widths[i] - width_of(shown) + gap, ' ');
    }
    return line;
}

} // namespace

void table::add(std::vector<std::string> cells) {
    assert(cells.size() == columns_.size());
    for (std::string& each : cells)
        each = printable(each, each.size());
    lines_.push_back(std::move(cells));
}

std::vector<std::size_t> table::widths(std::size_t at_most) const {
    std::vector<std::size_t> widths;
    for (const column& each : columns_)
        widths.push_back(width_of(each.title));
    for (const auto& line : lines_)
        for (std::size_t i = 0; i < line.size(); ++i)
            widths[i] = std::max(widths[i], width_of(line[i]));
    const std::size_t all =
        std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1));
    std::size_t surplus = all - std::min(all, at_most);
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const std::size_t least = columns_[i].least == 0 ? widths[i] : columns_[i].least;
        const std::size_t given = std::min(surplus, widths[i] - std::min(widths[i], least));
        widths[i] -= given;
        surplus -= given;
    }
    return widths;
}

bool table::print(std::ostream& out, const output_form& form) const {
    const std::vector<std::size_t> widths = this->widths(form.columns);
    std::vector<std::string> titles;
    for (const column& each : columns_)
        titles.push_back(each.title);
    constexpr std::string_view bold = "\x1b[1m", plain = "\x1b[0m";
    out << (form.colours ? bold : "") << line_of(titles, widths) << (form.colours ? plain : "")
        << '\n';
    for (const auto& line : lines_)
        out << line_of(line, widths) << '\n';
    return std::ranges::any_of(
        lines_, [&](const auto& line) { return width_of(line.front()) > widths.front(); });
}

} // namespace cli
