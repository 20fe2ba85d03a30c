// SPDX-License-Identifier: Apache-2.0
#include "cli/server/private_folder.hpp"

#include "cli/server/server_guard.hpp"
#include "cli/terminal/say.hpp"

#include <holdfast/time.hpp>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace cli {
namespace {

constexpr std::size_t path_bytes_max = sizeof(sockaddr_un::sun_path) - 1 - sizeof "/socket" + 1;

/// Returns whether only this user and root can replace a folder inside `path`.
bool is_safe_to_be_in(const std::string& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode))
        return false;
    const bool others_write = (found.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    return (found.st_uid == ::geteuid() || found.st_uid == 0) &&
           (!others_write || (found.st_mode & S_ISVTX) != 0);
}

bool is_writable_and_ours(const std::string& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 && found.st_uid == ::geteuid() &&
           ::access(path.c_str(), W_OK | X_OK) == 0;
}

/// Returns why the private server cannot use that XDG_RUNTIME_DIR. Empty if it can.
std::string trouble_with(const std::string& chosen) {
    if (!chosen.starts_with('/'))
        return "it is no absolute path";
    if (!is_writable_and_ours(chosen))
        return "it is no folder of this user's that can be written";
    if (!is_safe_to_be_in(chosen))
        return "others can write there";
    if (chosen.size() + std::string_view{"/holdfast"}.size() > path_bytes_max)
        return "its path is too long for a socket";
    return {};
}

/// Returns whether the path is the runtime folder of a login session, such as `/run/user/1000`. The
/// session may belong to this user, or to the user who called su or sudo.
bool is_of_a_login(const std::string& path) {
    constexpr std::string_view logins = "/run/user/";
    return path.starts_with(logins) &&
           path.find_first_not_of("0123456789", logins.size()) == path.npos;
}

struct folder_choice {
    std::string path;
    /// Why the folder is not where the user wanted it; empty if there is no problem.
    std::string trouble;
};

/// Returns the private server's folder that an outer `holdfast run` uses. HOLDFAST_URL names this
/// folder, even if this process has another XDG_RUNTIME_DIR.
std::optional<std::string> folder_of_run_around() {
    const char* const folder = std::getenv("HOLDFAST_PRIVATE_SERVER");
    const char* const url = std::getenv("HOLDFAST_URL");
    const bool is_its_url = folder != nullptr && url != nullptr && *folder == '/' &&
                            url == private_folder::url_of_socket(std::string{folder} + "/socket");
    return is_its_url ? std::optional<std::string>{folder} : std::nullopt;
}

/// Chooses the folder. A terminal, a cron job and a user who has logged out must find the same
/// server. So XDG_RUNTIME_DIR is used only if the user has chosen it. The folder of a login session
/// is not used, because cron does not have it and the last logout removes it (docs/adr/0007).
folder_choice choose_folder() {
    if (const std::optional<std::string> around = folder_of_run_around())
        return {*around, {}};
    const std::string usual = "/tmp/holdfast-" + std::to_string(::geteuid());
    const char* const variable = std::getenv("XDG_RUNTIME_DIR");
    const std::string chosen = variable != nullptr ? variable : "";
    if (chosen.empty() || is_of_a_login(chosen))
        return {usual, {}};
    if (std::string trouble = trouble_with(chosen); !trouble.empty())
        return {usual, "XDG_RUNTIME_DIR=" + printable(chosen) + " is not used (" +
                           std::move(trouble) + "): the private server is in " + usual};
    return {chosen + "/holdfast", {}};
}

/// Returns the chosen folder. Prints a message if XDG_RUNTIME_DIR is not used. Commands with
/// different folders do not exclude each other, so the user must know the folder in use.
std::string path_of_folder() {
    const folder_choice choice = choose_folder();
    if (!choice.trouble.empty())
        say(choice.trouble);
    return choice.path;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw no_server{"the private server's folder " + printable(path) + " " + why +
                    "; or give a server: --url, HOLDFAST_URL"};
}

descriptor open_checked(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        refuse(path, std::string{"cannot be opened ("} + std::strerror(errno) +
                         "). Move away what is there, or set XDG_RUNTIME_DIR to a folder of yours");
    descriptor folder{fd};
    struct stat found {};
    if (::fstat(fd, &found) != 0 || found.st_uid != ::geteuid())
        refuse(path, "belongs to another user. Set XDG_RUNTIME_DIR to a folder of yours");
    if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        refuse(path, "is open to others. Check that only your files are in it, then chmod 700 it");
    return folder;
}

} // namespace

std::string private_folder::likely_path() {
    return choose_folder().path;
}

std::string private_folder::url_of_socket(const std::string& path) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string url = "unix://";
    for (const char each : path) {
        const auto byte = static_cast<unsigned char>(each);
        if (std::isalnum(byte) != 0 || std::string_view{"/-._~"}.find(each) != std::string::npos)
            url += each;
        else
            url.append({'%', digits[byte >> 4U], digits[byte & 15U]});
    }
    return url;
}

private_folder private_folder::make() {
    std::string path = path_of_folder();
    const std::string parent = path.substr(0, path.rfind('/'));
    if (!is_safe_to_be_in(parent))
        refuse(path, "would be in one where others can replace it. Set XDG_RUNTIME_DIR to a "
                     "folder of yours");
    if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST)
        refuse(path, std::string{"cannot be made ("} + std::strerror(errno) +
                         "). Set XDG_RUNTIME_DIR to a folder of yours");
    descriptor opened = open_checked(path);
    return {std::move(path), std::move(opened)};
}

std::optional<private_folder> private_folder::find() {
    struct stat found {};
    std::string path = path_of_folder();
    if (::lstat(path.c_str(), &found) != 0 && errno == ENOENT)
        return std::nullopt;
    descriptor opened = open_checked(path);
    return private_folder{std::move(path), std::move(opened)};
}

bool private_folder::use(std::chrono::milliseconds patience) const {
    const auto give_up_at = holdfast::boot_clock::now() + patience;
    while (::flock(folder_.get(), LOCK_SH | LOCK_NB) != 0) {
        if (holdfast::boot_clock::now() > give_up_at)
            return false;
        std::this_thread::sleep_for(look_again);
    }
    return true;
}

bool private_folder::try_to_end() const {
    return ::flock(folder_.get(), LOCK_EX | LOCK_NB) == 0;
}

void private_folder::stop_ending() const noexcept {
    ::flock(folder_.get(), LOCK_UN);
}

std::optional<descriptor> private_folder::try_to_serve() const {
    descriptor file{::openat(folder_.get(), "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                             S_IRUSR | S_IWUSR)};
    // A cleaner of /tmp may have removed the file. Then this is a new file, and its flock does not
    // show whether a server runs.
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 || server_guard::holder(path_) != 0)
        return std::nullopt;
    return file;
}

bool private_folder::is_served() const {
    return !try_to_serve();
}

bool private_folder::is_found() const noexcept {
    struct stat ours {};
    struct stat there {};
    return ::fstat(folder_.get(), &ours) == 0 && ::lstat(path_.c_str(), &there) == 0 &&
           ours.st_ino == there.st_ino && ours.st_dev == there.st_dev &&
           ::faccessat(folder_.get(), "socket", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

} // namespace cli
