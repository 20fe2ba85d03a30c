// SPDX-License-Identifier: Apache-2.0
// How to refuse a late write with a fencing token. A holder that is paused for longer than its
// lease wakes up and writes, although another client has the lock by then. No lock can prevent
// this. The resource can: it checks the token of each write.
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

// A file that refuses writers whose token is older than the newest token that it has seen. The
// newest token is kept in a second file, so it survives all processes.
class fenced_file {
public:
    explicit fenced_file(fs::path where)
        : where_{std::move(where)} {}

    // Stores the caller's token, so that older tokens are refused from now on. Returns false if the
    // caller's token itself is too old. Call it before you read the data that you want to change.
    bool claim(std::uint64_t token) { return raise(open_token_file(), token); }

    // Replaces the text. Returns false, and does nothing, if a newer token was used before.
    bool write(std::uint64_t token, std::string_view text) {
        const token_file newest = open_token_file(); // locks the token file, so other writers wait
        if (!raise(newest, token))
            return false;
        const fs::path next = where_.string() + ".next";
        std::ofstream{next} << text << std::flush;
        fs::rename(next, where_); // if the process is killed here, the old text stays complete
        return true;
    }

    std::string read() const {
        std::string text;
        std::getline(std::ifstream{where_}, text);
        return text;
    }

private:
    struct token_file { // flock(2) holds the lock while the file is open
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
    // The same token is accepted again, because a holder may write several times.
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

    // The two clients here stand for two processes.
    holdfast::client alice{url};
    holdfast::client bob{url};
    holdfast::fenced_mutex of_alice{alice, "report", {.numbers = holdfast::fencing::dated}};
    holdfast::fenced_mutex of_bob{bob, "report", {.numbers = holdfast::fencing::dated}};

    of_alice.lock(holdfast::lease_time{100ms});
    const std::uint64_t hers = of_alice.fencing_token();
    std::cout << "Alice has the lock, with a token. Now her machine stands still ..." << std::endl;

    std::uint64_t his = 0;
    {
        const std::scoped_lock held{of_bob}; // her lease ends, and Bob acquires the lock
        his = of_bob.fencing_token();
        const bool done = report.claim(his) && report.write(his, "by Bob");
        std::cout << "Bob has it, with a greater one: "
                  << (done ? "he has written.\n" : "refused?\n");
    }

    // Alice continues where she was, without checking whether she still has the lock.
    const bool late = report.write(hers, "by Alice");
    std::cout << "Alice writes late: " << (late ? "done?\n" : "refused.\n") << "The report is "
              << report.read() << ".\n";

    const bool well = !late && hers < his && report.read() == "by Bob";
    holdfast::error_code lost;
    of_alice.unlock(lost);
    fs::remove_all(folder);
    return well ? 0 : 1;
}
