// SPDX-License-Identifier: Apache-2.0
// A holder that stands still for longer than its lease wakes up and writes, although the lock is
// another's by then. No lock can prevent that; what is written to can, by the fencing token.
//
//     07_fencing redis://127.0.0.1:6379
#include <holdfast/holdfast.hpp>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace std::chrono_literals;
namespace fs = std::filesystem;

// A file that refuses whoever has an older token than the newest it has seen. That one is kept in
// a file beside it, so it outlives all processes.
class fenced_file {
public:
    explicit fenced_file(fs::path where)
        : where_{std::move(where)} {}

    // From now on, those with an older token are refused. False: the caller is one of them.
    // Call it before reading what is to be changed.
    bool claim(std::uint64_t token) { return raise(open_token_file(), token); }

    // Replaces the text. False: somebody with a newer token was here, and nothing was done.
    bool write(std::uint64_t token, std::string_view text) {
        const token_file newest = open_token_file(); // nobody else looks or writes meanwhile
        if (!raise(newest, token))
            return false;
        const fs::path next = where_.string() + ".next";
        std::ofstream{next} << text << std::flush;
        fs::rename(next, where_); // whoever is killed here leaves the old text, not half of one
        return true;
    }

    std::string read() const {
        std::string text;
        std::getline(std::ifstream{where_}, text);
        return text;
    }

private:
    struct token_file { // flock(2) lasts as long as it is open
        int fd;
        ~token_file() { ::close(fd); }
    };
    token_file open_token_file() const {
        const int fd =
            ::open((where_.string() + ".token").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0 || ::flock(fd, LOCK_EX) != 0)
            throw std::runtime_error{"the file of the token cannot be locked"};
        return {fd};
    }
    // The same token again is not older: a holder may write as often as it likes.
    static bool raise(const token_file& newest, std::uint64_t token) {
        std::uint64_t seen = 0;
        if (::pread(newest.fd, &seen, sizeof seen, 0) < 0)
            throw std::runtime_error{"the token cannot be read"};
        if (token < seen)
            return false;
        if (token > seen && ::pwrite(newest.fd, &token, sizeof token, 0) != sizeof token)
            throw std::runtime_error{"the token cannot be kept"};
        return true;
    }

    const fs::path where_;
};

int main(int count, char** values) {
    const char* const environment = std::getenv("HOLDFAST_URL");
    const std::string url = count > 1 ? values[1] : environment ? environment : "memory:fencing";
    std::string folder = fs::temp_directory_path() / "holdfast-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr)
        return 1;
    fenced_file report{fs::path{folder} / "report"};

    // Two clients stand for two processes here.
    holdfast::client alice{url};
    holdfast::client bob{url};
    holdfast::fenced_mutex of_alice{alice, "report", {.numbers = holdfast::fencing::dated}};
    holdfast::fenced_mutex of_bob{bob, "report", {.numbers = holdfast::fencing::dated}};

    of_alice.lock(holdfast::lease_time{100ms});
    const std::uint64_t hers = of_alice.fencing_token();
    std::cout << "Alice has the lock, with a token. Now her machine stands still ..." << std::endl;

    std::uint64_t his = 0;
    {
        const std::scoped_lock held{of_bob}; // her lease ends, and he gets it
        his = of_bob.fencing_token();
        const bool done = report.claim(his) && report.write(his, "by Bob");
        std::cout << "Bob has it, with a greater one: "
                  << (done ? "he has written.\n" : "refused?\n");
    }

    // She goes on where she was, and never asked whether she still has it.
    const bool late = report.write(hers, "by Alice");
    std::cout << "Alice writes late: " << (late ? "done?\n" : "refused.\n") << "The report is "
              << report.read() << ".\n";

    const bool well = !late && hers < his && report.read() == "by Bob";
    holdfast::error_code lost;
    of_alice.unlock(lost);
    fs::remove_all(folder);
    return well ? 0 : 1;
}
