// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/descriptor.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace cli {

/// The folder of this user's private server: its socket, its log, and who may do what with it.
///
///     the folder itself, shared flock     somebody uses the server: nobody may end it
///     the folder itself, exclusive flock  it is being ended: nobody may begin to use it
///     the file "lock", exclusive flock    a supervisor or its server lives, or is being started
///     server_guard                        the same, if somebody has removed that file
///
/// The kernel drops these locks with their processes, however those end.
class private_folder {
public:
    /// Finds it and makes it where it is missing. Throws `no_server` if it is not this user's
    /// alone: whoever else can write there could hand out locks.
    static private_folder make();

    /// Nothing: it is not there.
    static std::optional<private_folder> find();

    /// Where the folder would be, whether there is one or not.
    static std::string likely_path();

    /// The URL of the server that listens on that socket.
    static std::string url_of_socket(const std::string& path);

    const std::string& path() const noexcept { return path_; }
    std::string socket() const { return path_ + "/socket"; }
    std::string log() const { return path_ + "/log"; }

    /// Waits at most that long. False: it stays taken.
    bool use(std::chrono::milliseconds patience) const;
    bool try_to_end() const;
    void stop_ending() const noexcept;

    /// Its exclusive flock comes with the descriptor, also for those who inherit that. Nothing: a
    /// server lives.
    std::optional<descriptor> try_to_serve() const;
    bool is_served() const;

    /// Whether new programs would still find this very folder, and a socket in it.
    bool is_found() const noexcept;

private:
    private_folder(std::string path, descriptor opened)
        : path_{std::move(path)}
        , folder_{std::move(opened)} {}

    std::string path_;
    descriptor folder_;
};

/// How often is looked at what the kernel tells nobody about.
inline constexpr std::chrono::milliseconds look_again{5};

} // namespace cli
