// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interop/holdfast/home.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <thread>

namespace holdfast::interop {

/// What one worker knew, and when: a line each, with the nanoseconds of CLOCK_MONOTONIC, which all
/// processes of a machine share. Written at once and unbuffered, so that it survives a kill.
class history_writer {
public:
    /// Throws `std::system_error` if there is such a file already.
    explicit history_writer(const std::string& path);
    history_writer(const history_writer&) = delete;
    ~history_writer();

    void write(const std::string& what);

private:
    int file_;
};

/// One way to take a lock, and what to do with it. `timeout`: −1 for ever, 0 one attempt. `lease`:
/// 0 for renewed. `hold` and `pause`: at most so long, drawn at random. `depth`: how often the lock
/// is entered, how many permits are drawn, or to which count a latch is set. `cancel`: the wait is
/// called off after so long; −1 never. `object`: which lock, as for a call; `suffix` comes behind
/// the name. `downgrade`: a writer goes on as a reader. `rest`: a latch is set in every other
/// stretch of so long alone.
struct turn {
    duration timeout, lease, hold, pause;
    std::int64_t depth;
    duration cancel;
    std::string object, suffix;
    bool downgrade;
    duration rest;
};

/// What a crew of workers does until it is stopped: turns drawn at random, on random names.
/// `goes_on`: a call that has a limit and fails is no reason to end, since servers fail; nor is a
/// release that is not answered in time.
struct work {
    std::size_t threads;
    std::vector<std::string> names;
    std::vector<turn> turns;
    std::string history; ///< where each worker writes, before ".0", ".1", …
    std::uint64_t seed;
    bool goes_on;
};

work work_of(const json::object& described);

/// Takes a turn, on a name, both drawn at random, again and again, and writes down what it knows.
class worker {
public:
    worker(home&, const work&, std::size_t number);

    void stop() { thread_.request_stop(); }

    /// How many turns it took, when it has ended. Throws what ended it before its time.
    std::int64_t turns();

private:
    void run(const std::stop_token& over);
    void take(const turn&, const std::string& name);
    bool acquired(basic_mutex&, const turn&);
    bool in_time(const turn&, const std::function<bool()>& acquire);
    bool unless_cancelled(const turn&, const std::function<void(std::stop_token)>& acquire);
    void tell_of(const turn&, const std::string& name);
    bool released(const turn&, const std::string& name);
    duration up_to(duration most);

    /// A lease that is not renewed is given up a little before the server forgets it, and the
    /// library counts from the beginning of a millisecond. Zero, as `lease`: renewed.
    static duration sure_for(duration lease);

    bool take_turn_at_counter(const turn&, const std::string& name); ///< false: it is at a lock
    void draw(const turn&, const std::string& name);
    void rent(const turn&, const std::string& name);
    void spend(const turn&, const std::string& name);
    void meet(const turn&, const std::string& name);
    template <typename Counter>
    bool drawn(Counter&, const turn&);

    home& home_;
    const work what_;
    history_writer history_;
    std::mt19937_64 random_;
    std::int64_t turns_ = 0;
    std::exception_ptr ended_by_;
    std::jthread thread_{[this](const std::stop_token& over) { run(over); }};
};

/// Workers that go on until they are stopped, each with its history in a file of its own.
class crew {
public:
    crew(home&, const work&);

    std::int64_t stop(); ///< how many turns they took

private:
    std::vector<std::unique_ptr<worker>> workers_;
};

} // namespace holdfast::interop
