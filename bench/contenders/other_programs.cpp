// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/other_programs.hpp"

#include "bench/contenders/contender.hpp"
#include "bench/contenders/quorum.hpp"
#include "bench/server/cpu_time.hpp"

#include <holdfast/client.hpp>
#include <holdfast/fair_mutex.hpp>
#include <holdfast/version.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <numeric>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// Timeout for the start of a JVM and for the end of a measurement. Both need far less time, even
/// on a busy machine.
constexpr auto answers_within = 60s;

} // namespace

peer::peer(std::vector<std::string> command, std::filesystem::path log)
    : log_{std::move(log)}
    , process_{std::move(command), log_}
    , version_{answer()} {}

void peer::begin(const std::string& kind, int at_once, nanoseconds length,
                 const std::string& more_words) {
    process_.say(kind + " " + std::to_string(at_once) + " " + std::to_string(length.count()) +
                 more_words);
}

tally peer::finish() {
    return read_tally(answer());
}

std::string peer::answer() {
    if (process_.speaks_within(answers_within))
        if (std::optional<std::string> line = process_.next_line())
            return *std::move(line);
    std::ostringstream said;
    said << std::ifstream{log_}.rdbuf();
    throw std::runtime_error{"the other process has ended, or says nothing: " + said.str()};
}

double peer::cpu_seconds() const {
    return cpu_seconds_of(process_.id());
}

namespace {

/// Returns the pause before a request: one to ten milliseconds, as in Threads.java. So the request
/// comes at a random moment while the other process hands the lock over between its threads
/// (`hand_off::within`).
std::chrono::milliseconds rest(long long time) {
    return std::chrono::milliseconds{1 + 7 * time % 10};
}

tally now_and_then(client& home, nanoseconds length) {
    mutex lock{home, name_of_lock(0)};
    tally all;
    all.elapsed = time_of([&] {
        const auto end = stopwatch::now() + length;
        do {
            std::this_thread::sleep_for(rest(all.done));
            all.samples.push_back(time_of([&] { lock.lock(); }));
            expect_unlocked(lock);
            ++all.done;
        } while (stopwatch::now() < end);
    });
    return all;
}

tally in_the_queue(client& home, int threads, nanoseconds length) {
    fair_mutex lock{home, name_of_lock(0)};
    return through_one_lock(
        threads, length, [&] { lock.lock(); }, [&] { expect_unlocked(lock); });
}

std::string answer(client& home, const std::string& command) try {
    std::istringstream words{command};
    std::string kind;
    int threads = 0;
    long long length = 0;
    words >> kind >> threads >> length;
    if (words && kind == "now-and-then" && threads == 1)
        return line_of(now_and_then(home, nanoseconds{length}));
    if (words && kind == "fair")
        return line_of(in_the_queue(home, threads, nanoseconds{length}));
    return line_of_failure("this is no turn: " + command);
} catch (const std::exception& trouble) {
    return line_of_failure(trouble.what());
}

} // namespace

void be_a_neighbour(const char* url) {
    client home{url};
    std::cout << "holdfast " << HOLDFAST_VERSION_STRING << std::endl;
    for (std::string command; std::getline(std::cin, command);)
        std::cout << answer(home, command) << std::endl;
}

std::string program_of_neighbour(const std::string& name) {
    const char* const given = std::getenv("HOLDFAST_NEIGHBOURS");
    const std::string all = std::string{";"} + (given ? given : "") + ";";
    const std::string label = ";" + name + "=";
    const std::size_t found = all.find(label);
    if (found == all.npos)
        throw not_here{"no " + name + ": ./dev bench says what it misses"};
    const std::size_t begin = found + label.size();
    return all.substr(begin, all.find(';', begin) - begin);
}

namespace {

/// Time until the JIT compiler has compiled all functions that a measurement calls.
constexpr auto warm_up = 3s;

class redissons_turn : public contender {
public:
    /// `kind` is a word that Driver.java accepts: "threads", "async", "gate", …
    redissons_turn(const arena& where, const char* kind, std::string more_words = {})
        : java_{where.java.process()}
        , kind_{kind}
        , more_words_{std::move(more_words)}
        , at_once_{where.at_once} {
        run(warm_up);
    }

    tally run(nanoseconds length) final {
        java_.begin(kind_, at_once_, length, more_words_);
        return java_.finish();
    }

    /// There is no maximum number of scripts: Redisson makes failed attempts, and renews held locks
    /// every ten seconds.
    claim scripts_for(const tally& all) const override {
        const int each = std::string_view{kind_} == "rate" ? 1 : 2; // a rate has no release
        return {each * all.done, std::numeric_limits<long long>::max()};
    }

    double cpu_seconds() const override { return java_.cpu_seconds(); }

private:
    peer& java_;
    const char* const kind_;
    const std::string more_words_;
    const int at_once_;
};

} // namespace

peer& redisson::process(std::size_t number) {
    while (processes_.size() <= number)
        start_one();
    return processes_[number];
}

void redisson::start_one() {
    const char* const given = std::getenv("HOLDFAST_BENCH_REDISSON");
    const std::string what = given ? given : "";
    const std::size_t split = what.find('=');
    if (split == what.npos)
        throw not_here{"no JVM with Redisson: ./dev bench says what it misses"};
    const peer& started = processes_.emplace_back(
        std::vector<std::string>{"java", "-cp", what.substr(split + 1), "holdfast.bench.Driver",
                                 home_.url(transport::tcp_loopback)},
        home_.folder() / "redisson.log");
    version_ = "Redisson " + what.substr(0, split) + ", " + started.version();
}

double redisson::cpu_seconds() const {
    return std::accumulate(processes_.begin(), processes_.end(), 0.0,
                           [](double sum, const peer& each) { return sum + each.cpu_seconds(); });
}

made redisson_threads(const arena& where) {
    return std::make_unique<redissons_turn>(where, "threads");
}

made redisson_red_lock(const arena& where) {
    std::string addresses;
    for (const server* node : nodes(where, 5))
        addresses += ' ' + node->url(transport::tcp_loopback);
    return std::make_unique<redissons_turn>(where, "redlock", addresses);
}

made redisson_confirmed(const arena& where) {
    std::string addresses;
    for (const std::uint16_t port : where.group.value().ports)
        addresses += " redis://127.0.0.1:" + std::to_string(port);
    return std::make_unique<redissons_turn>(where, "replicated", addresses);
}

made redisson_async(const arena& where) {
    return std::make_unique<redissons_turn>(where, "async");
}

made redisson_gate(const arena& where) {
    return std::make_unique<redissons_turn>(where, "gate");
}

made redisson_reentry(const arena& where) {
    return std::make_unique<redissons_turn>(where, "reentry");
}

made redisson_readers_and_writer(const arena& where) {
    return std::make_unique<redissons_turn>(where, "readers-and-writer");
}

made redisson_semaphore(const arena& where) {
    return std::make_unique<redissons_turn>(where, "semaphore", " 8");
}

made redisson_free_semaphore(const arena& where) {
    return std::make_unique<redissons_turn>(where, "semaphore",
                                            ' ' + std::to_string(where.at_once));
}

made redisson_permits(const arena& where) {
    return std::make_unique<redissons_turn>(where, "permits", " 8");
}

made redisson_rate(const arena& where) {
    return std::make_unique<redissons_turn>(where, "rate", ' ' + std::to_string(draws_of_a_rate));
}

// Curator, in its own JVM. The program (tests/interop/others/curator) is also used by the tests
// `./dev interop`. The program runs a whole measurement by itself.

namespace {

/// Time until the JIT compilers of Curator's and of ZooKeeper's JVM are warm.
constexpr auto warm_up_of_curator = 5s;

class curators_turn final : public contender {
public:
    curators_turn(const arena& where, std::string kind)
        : process_{{program_of_neighbour("curator"), "bench", where.group.value().url},
                   where.home.folder() / "curator.log"}
        , kind_{std::move(kind)}
        , at_once_{where.at_once} {
        run(warm_up_of_curator);
    }

    tally run(nanoseconds length) override {
        process_.begin(kind_, at_once_, length);
        return process_.finish();
    }

    claim scripts_for(const tally& all) const override {
        return {2 * all.done, std::numeric_limits<long long>::max()};
    }

    double cpu_seconds() const override { return process_.cpu_seconds(); }

private:
    peer process_;
    const std::string kind_;
    const int at_once_;
};

} // namespace

made curator_threads(const arena& where) {
    return std::make_unique<curators_turn>(where, "pairs");
}

made curator_queue(const arena& where) {
    return std::make_unique<curators_turn>(where, "queue");
}

// redsync and node-redlock, each in its own process. Their programs (tests/interop/others) are also
// used by the tests `./dev interop`. The programs run a whole measurement by themselves.

namespace {

/// Warm-up time: V8 needs it for its compiler, and Go for its connections.
constexpr auto warm_up_of_others = 3s;

std::vector<std::string> command_for(const std::string& name,
                                     const std::vector<const server*>& nodes) {
    std::vector<std::string> words{program_of_neighbour(name), "bench"};
    for (const server* node : nodes)
        words.push_back(node->url(transport::tcp_loopback));
    return words;
}

class other_quorum : public contender {
public:
    /// `scripts` is the number of scripts that a pair of lock and unlock runs on each node.
    other_quorum(const arena& where, const std::string& name, int scripts)
        : nodes_{nodes(where, 5)}
        , books_{nodes_}
        , process_{command_for(name, nodes_), where.home.folder() / (name + ".log")}
        , at_once_{where.at_once}
        , scripts_{scripts} {
        run(warm_up_of_others);
    }

    /// Runs one measurement. Both redsync and node-redlock wait for all nodes, so no key is left at
    /// the end.
    tally run(nanoseconds length) final {
        books_.clear();
        process_.begin("quorum", at_once_, length);
        tally all = process_.finish();
        books_.expect(scripts_ * majority * all.done);
        return all;
    }

    /// There is no maximum number of scripts, because failed attempts need more scripts.
    claim scripts_for(const tally& all) const override {
        return {scripts_ * all.done, std::numeric_limits<long long>::max()};
    }

    double cpu_seconds() const override { return process_.cpu_seconds(); }

private:
    static constexpr long long majority = 3;

    const std::vector<const server*> nodes_;
    books_of_nodes books_;
    peer process_;
    const int at_once_;
    const long long scripts_;
};

} // namespace

/// redsync takes a lock with a plain SET, so a pair of lock and unlock runs only one script.
made redsync_quorum(const arena& where) {
    return std::make_unique<other_quorum>(where, "redsync", 1);
}

made node_redlock_quorum(const arena& where) {
    return std::make_unique<other_quorum>(where, "node-redlock", 2);
}

} // namespace holdfast::bench
