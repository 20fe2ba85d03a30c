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

/// A server of a test's own, as a program: with a folder that is fresh and goes with the object,
/// and what it prints in the file `log` there. It dies with the thread that starts it.
class server_process {
public:
    server_process();
    server_process(const server_process&) = delete;
    ~server_process();

    /// Returns when `answers` says so; it is asked again and again. Throws `server_unavailable`
    /// with what the program printed if it ends before, or does not answer in time.
    void start(std::vector<std::string> command, const std::vector<std::string>& environment,
               const std::function<bool()>& answers);
    void stop();      ///< at once, as kill -9 does
    void shut_down(); ///< SIGTERM; returns when it has ended
    void pause();     ///< SIGSTOP: connections stay, nothing is answered
    void resume();

    bool is_running() const { return pid_ != 0; }
    bool is_up() const { return is_running() && !is_paused_; } ///< as far as we have done it
    pid_t pid() const { return pid_; }

    const std::filesystem::path& folder() const { return folder_; }
    void write(const std::string& name, const std::string& text) const;
    void remove(const std::string& name) const; ///< with all that is in it

private:
    void launch(std::vector<std::string>& command, std::vector<std::string>& environment);
    void wait_until(const std::function<bool()>& answers, const std::string& name);
    void has_ended();
    std::string last_words() const;

    std::filesystem::path folder_;
    pid_t pid_ = 0;
    bool is_paused_ = false;
};

/// How long an answer may take: the server may be stopped.
constexpr std::chrono::milliseconds word_patience{2'000};

/// What a server with that unix socket says by itself, or one on that port of 127.0.0.1 in answer
/// to `question`, until it closes, `limit` bytes are there or the time is over. Empty: it does not
/// listen, or says nothing.
std::string words_at(const std::filesystem::path& socket, std::size_t limit);
std::string words_at(std::uint16_t port, const std::string& question,
                     std::chrono::milliseconds patience = word_patience);

} // namespace holdfast::support
