// SPDX-License-Identifier: Apache-2.0
// The three scenes of the demo. 1: without a lock, additions are lost. 2: with a lock, none is
// lost. 3: a process is killed while it holds the lock, and another process gets the lock.
#include "cli/demo/demo.hpp"

#include "cli/command_line.hpp"
#include "cli/descriptor.hpp"
#include "cli/look/bench.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/run/child_process.hpp"
#include "cli/run/coroutines.hpp"
#include "cli/server/server_access.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace cli {

demo_screen::demo_screen()
    : demo_screen{form_of(STDOUT_FILENO)} {}

demo_screen::demo_screen(const output_form& form)
    : live_{form.live && form.columns >= columns_needed}
    , coloured_{live_ && form.colours} {}

void demo_screen::show(const std::vector<std::string>& lines) {
    std::string picture;
    if (shown_ > 0)
        // Move the cursor to the start of the first shown line.
        picture = "\x1b[" + std::to_string(shown_) + "F";
    for (const std::string& line : lines)
        picture += line + "\x1b[K\n";
    shown_ = lines.size();
    std::cout << picture << std::flush; // one write, because several writes would flicker
}

std::string demo_screen::good(std::string_view text) const {
    return tinted("\x1b[32m", text);
}

std::string demo_screen::bad(std::string_view text) const {
    return tinted("\x1b[31m", text);
}

std::string demo_screen::tinted(std::string_view code, std::string_view text) const {
    std::string all{text};
    return coloured_ ? std::string{code} + all + "\x1b[0m" : all;
}

demo_board::demo_board(demo_screen& screen, std::size_t workers, int adds_each, bool locked)
    : screen_{screen}
    , adds_each_{adds_each}
    , locked_{locked}
    , done_(workers) {
    if (screen_.is_live())
        draw();
}

void demo_board::advance(std::size_t worker, int adds, long number) {
    done_[worker] += adds;
    number_ = number;
    last_ = worker;
    if (!screen_.is_live()) {
        print_quarter();
    } else if (const auto now = holdfast::boot_clock::now(); now >= draw_again_at_) {
        draw();
        draw_again_at_ = now + std::chrono::milliseconds{40};
    }
}

void demo_board::finish(long number) {
    number_ = number;
    finished_ = true;
    if (screen_.is_live())
        draw();
    screen_.keep();
}

void demo_board::draw() {
    constexpr int width = 36;
    std::vector<std::string> lines;
    for (std::size_t worker = 0; worker < done_.size(); ++worker) {
        const auto filled = static_cast<std::size_t>(width * done_[worker] / adds_each_);
        const std::string count = std::to_string(done_[worker]);
        const bool holds = locked_ && !finished_ && worker == last_ && total() > 0;
        lines.push_back("   process " + std::to_string(worker + 1) + "  " +
                        std::string(filled, '#') + std::string(width - filled, '.') +
                        std::string(5 - count.size(), ' ') + count +
                        (holds ? screen_.good("  <- has the lock") : ""));
    }
    lines.push_back("   " + state());
    screen_.show(lines);
}

void demo_board::print_quarter() {
    const int whole = adds_each_ * static_cast<int>(done_.size());
    if (total() * 4 / whole <= quarters_printed_)
        return;
    quarters_printed_ = total() * 4 / whole;
    std::cout << "   " << state() << "; by process:";
    for (const int each : done_)
        std::cout << ' ' << each;
    std::cout << std::endl;
}

std::string demo_board::state() const {
    const std::string lost_so_far = std::to_string(lost()) + " lost";
    return std::to_string(total()) + " additions, the number is " + std::to_string(number_) + ", " +
           (lost() > 0 ? screen_.bad(lost_so_far) : screen_.good(lost_so_far));
}

int demo_board::total() const {
    return std::accumulate(done_.begin(), done_.end(), 0);
}

/// Returns the number of lost additions so far. The result may be too low for a moment, because a
/// worker writes the file first and reports the addition after that.
long demo_board::lost() const {
    return std::max(0L, total() - number_);
}

// Processes that the demo starts: workers and a holder. They read the server's URL from
// HOLDFAST_URL, because other users could see a password on the command line. A worker's stdin is
// the file with the number. A worker writes one byte to stdout for each addition. The holder writes
// one byte to stdout when it has the lock. After SIGTERM, each of them releases its lock and ends.

namespace {

using namespace std::chrono_literals;

void report_one() {
    if (::write(STDOUT_FILENO, ".", 1) != 1)
        std::exit(internal_error); // the demo process has ended
}

/// Adds one to the number in the file: reads, works, writes. Without a lock, additions get lost.
void add_one_to_file() {
    char text[16] = {};
    if (::pread(STDIN_FILENO, text, sizeof text - 1, 0) < 0)
        std::exit(internal_error);
    const long number = std::strtol(text, nullptr, 10);

    std::this_thread::sleep_for(2ms); // simulates the work between read and write

    const int length = std::snprintf(text, sizeof text, "%08ld\n", number + 1);
    if (::pwrite(STDIN_FILENO, text, static_cast<std::size_t>(length), 0) != length)
        std::exit(internal_error);
    report_one();
}

void add_without_lock(int count) {
    for (; count > 0; --count)
        add_one_to_file();
}

/// Blocks SIGTERM in this thread and in the threads that it starts later. Returns the signal set
/// that contains SIGTERM.
sigset_t block_sigterm() {
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
    return blocked;
}

/// Returns whether one of the blocked signals has arrived.
bool has_arrived(const sigset_t& blocked) {
    constexpr timespec no_wait{};
    return ::sigtimedwait(&blocked, nullptr, &no_wait) > 0;
}

/// Lease of the workers' lock. The lease is short, because a worker may be killed (SIGKILL) while
/// it holds the lock.
constexpr std::chrono::seconds worker_lease{5};

void add_with_lock(int count, const std::string& url, const std::string& name) {
    const sigset_t end = block_sigterm();
    holdfast::options how = reaching(url);
    how.lease_time = worker_lease; // on ZooKeeper this is the timeout of the session
    holdfast::client home{std::move(how)};
    holdfast::mutex lock{home, name};
    for (; count > 0 && !has_arrived(end); --count) {
        const std::scoped_lock held{lock};
        add_one_to_file();
    }
}

} // namespace

int demo_worker(const inheritance&, arguments given) {
    if (given.empty())
        throw usage_error{"demo-worker is for 'holdfast demo' only"};
    const int count = std::atoi(given[0].c_str());
    if (given.size() == 1) {
        add_without_lock(count);
        return success;
    }
    const std::string url = server_url(std::nullopt);
    try {
        add_with_lock(count, url, given[1]);
        return success;
    } catch (const boost::system::system_error& failure) {
        return last_words{}.report(failure, url);
    }
}

int demo_holder(const inheritance&, arguments given) {
    if (given.size() != 2)
        throw usage_error{"demo-holder is for 'holdfast demo' only"};
    const std::string url = server_url(std::nullopt);
    try {
        const holdfast::lease_time lease{parse_time("lease", given[1])};
        const sigset_t end = block_sigterm();
        holdfast::options how = reaching(url);
        how.lease_time = lease.value; // on ZooKeeper this is the timeout of the session
        holdfast::client home{std::move(how)};
        holdfast::mutex lock{home, given[0], lease};
        const std::scoped_lock held{lock};
        report_one();
        int arrived = 0;
        ::sigwait(&end, &arrived);
        return success;
    } catch (const boost::system::system_error& failure) {
        return last_words{}.report(failure, url);
    }
}

namespace {

/// Creates a file and removes its name at once. So the demo leaves no file behind, even if the demo
/// is killed.
descriptor make_number_file() {
    std::string path = std::filesystem::temp_directory_path() / "holdfast-demo-XXXXXX";
    descriptor file{::mkostemp(path.data(), O_CLOEXEC)};
    ::unlink(path.c_str());
    return file;
}

long read_number(const descriptor& file) {
    char text[16] = {};
    if (::pread(file.get(), text, sizeof text - 1, 0) < 0)
        throw std::system_error{errno, std::system_category(), "the demo's file"};
    return std::strtol(text, nullptr, 10);
}

/// Receives the signals that ask the demo to end. Without this class, a signal would end this
/// process and its child processes at once, and the lock would stay held.
class end_signals {
public:
    /// Catches the signals, except those that were ignored at the start of this program.
    end_signals(asio::io_context& loop, const inheritance& inherited)
        : caught_{loop} {
        for (const int each : {SIGHUP, SIGINT, SIGPIPE, SIGTERM})
            if (!inherited.ignores(each))
                caught_.add(each);
    }

    /// Waits for the first signal. A second signal ends this process at once.
    asio::awaitable<void> arrival() {
        arrived_ = co_await caught_.async_wait(asio::use_awaitable);
        caught_.clear();
    }

    bool have_arrived() const noexcept { return arrived_.has_value(); }

    /// Ends this process by the signal that has arrived, if there is one.
    void pass_on() const {
        if (arrived_)
            ::raise(*arrived_);
    }

private:
    asio::signal_set caught_;
    std::optional<int> arrived_{};
};

/// Time that the demo's processes have, after a signal, to release the lock and to end. After this
/// time the demo kills them, because their server may be unreachable.
constexpr std::chrono::seconds end_timeout{2};

struct worker {
    worker(asio::io_context& loop, const inheritance& inherited,
           const std::vector<std::string>& command, const descriptor& file, pipe_ends reports)
        : process{loop,
                  inherited,
                  command,
                  {.standard = {.in = file.get(), .out = reports.write.get()}}}
        , progress{loop, reports.read.release()} {}

    child_process process;
    asio::posix::stream_descriptor progress;
};

asio::awaitable<bool> follow(worker& one, std::size_t index, const descriptor& file,
                             demo_board& board) {
    std::array<char, 256> reports;
    for (;;) {
        holdfast::error_code end;
        const std::size_t adds = co_await one.progress.async_read_some(
            asio::buffer(reports), asio::redirect_error(asio::use_awaitable, end));
        if (end)
            break;
        board.advance(index, static_cast<int>(adds), read_number(file));
    }
    co_await one.process.ended();
    co_return one.process.status() == 0;
}

asio::awaitable<void> end_early(end_signals& signals,
                                const std::vector<std::unique_ptr<worker>>& workers) {
    co_await signals.arrival();
    for (const std::unique_ptr<worker>& each : workers)
        each->process.signal(SIGTERM);
    co_await pause(end_timeout);
    for (const std::unique_ptr<worker>& each : workers)
        each->process.signal(SIGKILL);
}

} // namespace

counted count_with_processes(demo_screen& screen, const counting& how,
                             const inheritance& inherited) {
    const descriptor file = make_number_file();
    std::vector<std::string> command{"/proc/self/exe", "demo-worker",
                                     std::to_string(how.adds_each)};
    if (!how.lock.empty())
        command.push_back(how.lock);

    asio::io_context loop{1};
    demo_board board{screen, static_cast<std::size_t>(how.workers), how.adds_each,
                     !how.lock.empty()};
    counted result;
    end_signals signals{loop, inherited};
    std::vector<std::unique_ptr<worker>> workers;
    int running = how.workers;
    for (int i = 0; i < how.workers; ++i) {
        workers.push_back(std::make_unique<worker>(loop, inherited, command, file, make_pipe()));
        asio::co_spawn(loop, follow(*workers.back(), workers.size() - 1, file, board),
                       [&](std::exception_ptr thrown, bool finished) {
                           if (thrown)
                               std::rethrow_exception(thrown);
                           result.all_finished = result.all_finished && finished;
                           if (--running == 0)
                               loop.stop(); // end_early() still waits
                       });
    }
    asio::co_spawn(loop, end_early(signals, workers), asio::detached);
    loop.run();
    signals.pass_on();
    result.number = read_number(file);
    board.finish(result.number);
    return result;
}

namespace {

using holdfast::boot_clock;

asio::awaitable<void> take(holdfast::mutex& lock, std::optional<holdfast::lease>& held) {
    held = co_await lock.async_lock(asio::use_awaitable);
}

asio::awaitable<void> report_of(asio::posix::stream_descriptor& holder) {
    char byte = 0;
    co_await holder.async_read_some(asio::buffer(&byte, 1), asio::use_awaitable);
}

struct scene {
    asio::io_context loop{1};
    demo_screen& screen;
    std::string url;
    std::string lock;
    const inheritance& inherited;
    end_signals signals{loop, inherited};
    std::optional<holdfast::time_point> killed_at{};
    holdfast::time_point ours_at{};

    std::optional<holdfast::client> home{};

    asio::awaitable<void> play() {
        pipe_ends reports = make_pipe();
        child_process holder{loop,
                             inherited,
                             {"/proc/self/exe", "demo-holder", lock, "2s"},
                             {.standard = {.out = reports.write.get()}}};
        asio::posix::stream_descriptor report{loop, reports.read.release()};
        // Close this process's copy of the write end of the pipe. Otherwise the reader would never
        // see the end of the data.
        ::close(reports.write.release());
        co_await until_first(wait_behind(holder, report), signals.arrival());
        if (!signals.have_arrived())
            co_return;
        try {
            co_await until_first(clean_up(holder), pause(end_timeout));
        } catch (const boost::system::system_error&) {
            // Ignore the error if the server cannot be reached, because the lock ends with its
            // lease in any case.
        }
        loop.stop(); // a request may still wait for its reply
    }

    /// Ends the holder and releases the lock after a signal.
    asio::awaitable<void> clean_up(child_process& holder) {
        holder.signal(SIGTERM);
        co_await holder.ended();
        if (!home)
            co_return;
        holdfast::mutex mine{*home, lock};
        if (killed_at && ours_at == holdfast::time_point{}) // the killed holder cannot release it
            (void)co_await abandonable(mine.async_force_unlock(asio::use_awaitable));
        co_await close();
    }

    asio::awaitable<void> close() {
        asio::awaitable<bool> closing = true_after(home->async_close(asio::use_awaitable));
        (void)co_await abandonable(std::move(closing));
    }

    asio::awaitable<void> wait_behind(child_process& holder,
                                      asio::posix::stream_descriptor& report) {
        co_await report_of(report);
        std::cout << "   Process " << holder.id() << " holds the lock, on a "
                  << (keeps_sessions(url) ? "session of a few seconds" : "lease of 2 s")
                  << " that it renews.\n"
                     "   We wait for the lock too, and kill that process with SIGKILL."
                  << std::endl;

        home.emplace(loop.get_executor(), reaching(url));
        holdfast::mutex mine{*home, lock};
        std::optional<holdfast::lease> held;
        co_await until_first(take(mine, held), kill_soon(holder), watch(mine, holder.id()));
        ours_at = boot_clock::now();
        if (screen.is_live())
            screen.show(table(holder.id(), held->remaining(), true));
        screen.keep();
        asio::awaitable<bool> releasing = true_after(held->async_unlock(asio::use_awaitable));
        (void)co_await abandonable(std::move(releasing));
        co_await close();
    }

    asio::awaitable<void> kill_soon(child_process& holder) {
        co_await pause(1500ms); // long enough to show some renewals
        holder.signal(SIGKILL);
        killed_at = boot_clock::now();
        co_await holder.ended();
        co_await stop_requested({});
    }

    /// Redraws the table with the remaining lease until the coroutine is cancelled.
    asio::awaitable<void> watch(const holdfast::mutex& mine, pid_t holder) {
        if (!screen.is_live())
            co_await stop_requested({});
        for (;;) {
            const std::optional<holdfast::duration> left =
                co_await abandonable(mine.async_remaining_lease(asio::use_awaitable));
            screen.show(table(holder, left.value_or(0ms), false));
            co_await pause(100ms);
        }
    }

    std::vector<std::string> table(pid_t holder, holdfast::duration left, bool ours) const {
        // ZooKeeper does not report how long a session will last
        if (left == holdfast::duration::max())
            left = 0ms;
        const auto bar = static_cast<std::size_t>(std::clamp<long>(left.count() / 100, 0, 20));
        const std::string waited =
            killed_at ? in_words((ours ? ours_at : boot_clock::now()) - *killed_at) : "";
        return {"   process " + std::to_string(holder) + "  " +
                    (killed_at ? screen.bad("killed") : screen.good("has the lock")),
                "   we" + std::string(std::to_string(holder).size() + 8, ' ') +
                    (ours ? screen.good("have the lock")
                          : "wait" + (waited.empty() ? "" : ", since the kill for " + waited)),
                "   the lease" + std::string(std::to_string(holder).size() + 1, ' ') +
                    (ours ? "is ours"
                     : keeps_sessions(url)
                         ? "ends with its session"
                         : std::string(bar, '#') + " " + in_words(left) + " left")};
    }
};

} // namespace

std::optional<holdfast::duration> wait_behind_killed_holder(demo_screen& screen,
                                                            const std::string& url,
                                                            const std::string& lock,
                                                            const inheritance& inherited) {
    scene act{.screen = screen, .url = url, .lock = lock, .inherited = inherited};
    asio::co_spawn(act.loop, act.play(), [](std::exception_ptr thrown) {
        if (thrown)
            std::rethrow_exception(thrown);
    });
    act.loop.run();
    act.signals.pass_on();
    if (!act.killed_at)
        return std::nullopt;
    return act.ours_at - *act.killed_at;
}

namespace {

constexpr std::string_view demo_help =
    R"(Shows what a lock is for, in three parts of a few seconds each. First, four
processes overwrite each other's updates. Then the same four processes use a
lock. In the third part, a process waits for a lock whose holder is killed.

Usage: holdfast demo [OPTIONS]

      --url URL        the server, as for 'holdfast run'
  -h, --help           print this text

The demo uses one lock with a name of its own. It leaves nothing behind, even if
you end it with Ctrl-C. If KILL ends it, the lock may stay held for another 5
seconds.

Exit status:
    0   success
    1   the count with the lock was wrong
   64   the command line or a variable is wrong
   69   the server cannot be reached, or refuses the request
)";

/// Returns a lock name that no other run uses. Takes and releases this lock once, to check that the
/// server grants locks.
std::string try_server(const std::string& url) {
    holdfast::client home{reaching(url)};
    std::string name = "holdfast-demo:" + home.id().substr(0, 8);
    try_out(home, name, has_failover(url));
    return name;
}

void act_one(demo_screen& screen, const inheritance& inherited) {
    std::cout << "\n1. Without a lock\n" << std::flush;
    const counting how;
    const counted got = count_with_processes(screen, how, inherited);
    const long lost = how.workers * how.adds_each - got.number;
    std::cout << "   The number is " << got.number << ": " << lost << " updates were lost.\n";
}

/// Runs the second scene of the demo. Returns false if the workers' result was wrong.
bool act_two(demo_screen& screen, const inheritance& inherited, const std::string& url,
             const std::string& lock) {
    std::cout << "\n2. With a lock: " << lock << "\n   on " << printable(without_password(url), 70)
              << '\n'
              << std::flush;
    const counting how{.lock = lock};
    const auto start = boot_clock::now();
    const counted got = count_with_processes(screen, how, inherited);
    const long lost = how.workers * how.adds_each - got.number;
    if (!got.all_finished || lost != 0) {
        std::cout << "   The number is " << got.number << ". That is wrong.\n" << std::flush;
        return false;
    }
    std::cout << "   The number is " << got.number << ": no update was lost ("
              << in_words(boot_clock::now() - start) << ").\n";
    return true;
}

bool act_three(demo_screen& screen, const inheritance& inherited, const std::string& url,
               const std::string& lock) {
    std::cout << "\n3. A holder is killed\n" << std::flush;
    const auto wait = wait_behind_killed_holder(screen, url, lock, inherited);
    if (!wait) {
        std::cout << "   The lock was ours while its holder still lived. That is wrong.\n";
        return false;
    }
    std::cout << "   Nobody released the lock, and " << in_words(*wait)
              << " after the kill it was ours:\n   its lease had ended.\n";
    return true;
}

/// Returns the command with which a user starts this program from the current directory.
std::string our_name() {
    namespace fs = std::filesystem;
    std::error_code unknown;
    const fs::path here = fs::read_symlink("/proc/self/exe", unknown);
    const fs::path installed = here.parent_path();
    const bool in_path = installed == "/usr/bin" || installed == "/usr/local/bin";
    if (in_path || unknown)
        return "holdfast";
    const std::string from_here = fs::proximate(here, unknown).string();
    return unknown || from_here.starts_with("..") ? here.string() : from_here;
}

void print_next_steps() {
    const std::string name = our_name();
    std::cout << "\nTry next\n   " << name
              << " run job -- sleep 20\n      a lock, held by a command\n   " << name
              << " run -n job -- echo mine\n      in another terminal: it is busy\n"
              << "   export HOLDFAST_URL=redis://HOST:PORT\n"
                 "      the same on your own server, for many machines\n"
                 "   examples/01_first_lock.cpp\n      a lock in C++, in 20 lines\n"
                 "   README.md\n      what it guarantees, and what not\n"
              << std::flush;
}

int play(const inheritance& inherited, const std::string& url) {
    const std::string lock = try_server(url);
    ::setenv("HOLDFAST_URL", url.c_str(), 1); // the workers read this variable
    std::cout << "Four processes each add 1 to the same number in a file, 250 times:\n"
                 "read it, work for 2 ms, write it back. It should end at 1000.\n";
    demo_screen screen;
    act_one(screen, inherited);
    if (!act_two(screen, inherited, url, lock) || !act_three(screen, inherited, url, lock))
        return wrong_result;
    print_next_steps();
    return success;
}

} // namespace

int demo(const inheritance& inherited, arguments all) {
    std::vector<std::string> given_urls;
    CLI::App expected{"", "demo"};
    expected.add_option("--url", given_urls)->allow_extra_args(false);
    if (!parse(expected, std::move(all), demo_help))
        return success;
    reject_surplus(expected);
    const std::string url = server_urls(given_urls);
    require_one_url(url);
    end_with_reader(inherited); // a pipe's reader, such as `head`, may close the pipe early
    try {
        return play(inherited, url);
    } catch (const boost::system::system_error& failure) {
        return last_words{}.report(failure, url);
    }
}

} // namespace cli
