// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/descriptor.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace cli {

/// Folder of this user's private server. It has the server's socket, its log, and these locks:
///
///     the folder itself, shared flock       a program uses the server: it must not be ended
///     the folder itself, exclusive flock    it is being ended: no program may begin to use it
///     the file "lock", exclusive flock      a supervisor or its server lives, or is being started
///     server_guard                          the same, even if that file was removed
///
/// The kernel releases these locks when their processes end, also after a crash.
class private_folder {
public:
    /// Finds or creates the folder. Throws `no_server` if another user can write to the folder,
    /// because that user could grant locks.
    static private_folder make();

    /// Finds the folder. Returns nothing if it does not exist.
    static std::optional<private_folder> find();

    /// Returns the path of the folder, even if the folder does not exist.
    static std::string likely_path();

    /// Returns the URL for a server that listens on this socket.
    static std::string url_of_socket(const std::string& path);

    const std::string& path() const noexcept { return path_; }
    std::string socket() const { return path_ + "/socket"; }
    std::string log() const { return path_ + "/log"; }

    /// Marks the server as used. If the server is being stopped, waits at most `patience`. Returns
    /// false if the server is still being stopped after that time.
    bool use(std::chrono::milliseconds patience) const;
    bool try_to_end() const;
    void stop_ending() const noexcept;

    /// Takes the exclusive flock of the file "lock". The returned descriptor, and every process
    /// that inherits it, keeps the flock. Returns nothing if a server runs.
    std::optional<descriptor> try_to_serve() const;
    bool is_served() const;

    /// Returns whether new programs would find this folder and a socket in it.
    bool is_found() const noexcept;

private:
    private_folder(std::string path, descriptor opened)
        : path_{std::move(path)}
        , folder_{std::move(opened)} {}

    std::string path_;
    descriptor folder_;
};

/// Time between two polls, for changes without a notification from the kernel.
inline constexpr std::chrono::milliseconds look_again{5};

} // namespace cli
