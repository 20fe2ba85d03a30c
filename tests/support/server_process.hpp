// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/servers.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace holdfast::support {

/// Server program of a single test. It has a fresh folder, which the destructor removes; its output
/// is in the file `log` there. It ends with the thread that starts it.
class server_process {
public:
    server_process();
    server_process(const server_process&) = delete;
    ~server_process();

    /// Starts the program. Returns when `answers` returns true, which is called again and again.
    /// Throws `server_unavailable` with the program's output if it ends before, or does not answer
    /// in time.
    void start(std::vector<std::string> command, const std::vector<std::string>& environment,
               const std::function<bool()>& answers);
    void stop();      ///< at once, like kill -9
    void shut_down(); ///< SIGTERM; returns when it has ended
    void pause();     ///< SIGSTOP: connections stay, no request is answered
    void resume();

    bool is_running() const { return pid_ != 0; }
    bool is_up() const { return is_running() && !is_paused_; } ///< false after `stop` or `pause`
    pid_t pid() const { return pid_; }

    const std::filesystem::path& folder() const { return folder_; }
    void write(const std::string& name, const std::string& text) const;
    void remove(const std::string& name) const; ///< with its contents, if it is a folder

private:
    void launch(std::vector<std::string>& command, std::vector<std::string>& environment);
    void wait_until(const std::function<bool()>& answers, const std::string& name);
    void has_ended();
    std::string last_words() const;

    std::filesystem::path folder_;
    pid_t pid_ = 0;
    bool is_paused_ = false;
};

/// Timeout of an answer, because the server may be stopped.
constexpr std::chrono::milliseconds word_patience{2'000};

/// Returns what the server sends: as a greeting on a unix socket, or on a port of 127.0.0.1 in
/// reply to `question`. Reads until the server closes the connection, `limit` bytes have arrived or
/// the time is over. Empty if the server does not listen or sends nothing.
std::string words_at(const std::filesystem::path& socket, std::size_t limit);
std::string words_at(std::uint16_t port, const std::string& question,
                     std::chrono::milliseconds patience = word_patience);

} // namespace holdfast::support
