// SPDX-License-Identifier: Apache-2.0
#include "cli/server/private_server.hpp"

#include "cli/command_line.hpp"
#include "cli/terminal/output.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <linux/close_range.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cli {
namespace {

constexpr timeval answer_timeout{.tv_sec = 3, .tv_usec = 0};

} // namespace

std::optional<server_link> server_link::open(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO})
        ::setsockopt(socket.get(), SOL_SOCKET, direction, &answer_timeout, sizeof answer_timeout);
    const int result =
        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    // EAGAIN means that the server's queue of connections is full.
    const bool has_no_room = result != 0 && errno == EAGAIN;
    if (result != 0 && !has_no_room)
        return std::nullopt;
    server_link link{std::move(socket)};
    link.silent_ = has_no_room;
    return link;
}

void server_link::read_more() {
    std::array<char, 4096> chunk;
    const ssize_t got = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
    silent_ = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (got <= 0)
        throw no_answer{"the server does not answer"};
    unread_.append(chunk.data(), static_cast<std::size_t>(got));
}

std::string server_link::take_line() {
    while (unread_.find("\r\n") == std::string::npos)
        read_more();
    std::string line = take(unread_.find("\r\n") + 2);
    line.resize(line.size() - 2);
    return line;
}

std::string server_link::take(std::size_t bytes) {
    while (unread_.size() < bytes)
        read_more();
    std::string taken = unread_.substr(0, bytes);
    unread_.erase(0, bytes);
    return taken;
}

std::string server_link::ask(std::string_view command) {
    const std::string line = std::string{command} + "\r\n";
    if (::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(line.size()))
        throw no_answer{"the server does not listen"};
    const std::string head = take_line();
    if (!head.starts_with('$'))
        return head.substr(1);
    std::size_t size = 0;
    std::from_chars(head.data() + 1, head.data() + head.size(), size);
    return take(size + 2).substr(0, size);
}

pid_t server_link::server() const {
    ucred peer{};
    socklen_t size = sizeof peer;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
    return peer.pid;
}

bool server_link::answers() noexcept {
    try {
        ask("PING");
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

void server_link::shut_down() {
    try {
        ask("SHUTDOWN NOSAVE");
    } catch (const no_answer&) {
        // Ignore the exception: the server ends without a reply.
    }
}

std::string text_in(std::string_view info, std::string_view name) {
    const std::string sought = "\n" + std::string{name} + ":";
    const std::size_t at = info.find(sought);
    if (at == std::string_view::npos)
        return {};
    const std::string_view rest = info.substr(at + sought.size());
    return std::string{rest.substr(0, rest.find('\r'))};
}

long number_in(std::string_view info, std::string_view name) {
    const std::string text = text_in(info, name);
    long number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

namespace {

/// Returns the FNV-1a hash of the path. The name of the socket has this hash, because the path may
/// be too long for the name.
std::uint64_t digest_of(const std::string& text) {
    std::uint64_t digest = 14'695'981'039'346'656'037U;
    for (const char each : text)
        digest = (digest ^ static_cast<unsigned char>(each)) * 1'099'511'628'211U;
    return digest;
}

struct address {
    sockaddr_un name{};
    socklen_t size = 0;

    explicit address(const std::string& folder) {
        struct stat mounts {};
        (void)::stat("/proc/self/ns/mnt", &mounts); // 0 if there is no such file
        const std::string text = "holdfast-" + std::to_string(::geteuid()) + "-" +
                                 std::to_string(mounts.st_ino) + "-" +
                                 std::to_string(digest_of(folder));
        name.sun_family = AF_UNIX;
        // The name of the socket begins with a zero byte, so the socket is not a file.
        std::memcpy(name.sun_path + 1, text.data(), text.size());
        size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    }

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

} // namespace

pid_t server_guard::holder(const std::string& folder) {
    const address at{folder};
    const cli::descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (::connect(socket.get(), at.get(), at.size) != 0)
        // EAGAIN: the queue of connections is full, because the stopped process accepts none.
        return errno == EAGAIN ? -1 : 0;
    ucred peer{};
    socklen_t size = sizeof peer;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
    return peer.uid == ::geteuid() ? peer.pid : 0;
}

std::optional<server_guard> server_guard::make(const std::string& folder) {
    const address at{folder};
    server_guard made;
    cli::descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (::bind(socket.get(), at.get(), at.size) == 0) {
        ::listen(socket.get(), SOMAXCONN);
        made.socket_.emplace(std::move(socket));
    } else if (holder(folder) != 0) {
        return std::nullopt;
    }
    return made;
}

void server_guard::let_go() const noexcept {
    for (int fd = 0; (fd = ::accept4(descriptor(), nullptr, nullptr, SOCK_CLOEXEC)) >= 0;)
        ::close(fd);
}

namespace {

constexpr std::size_t path_bytes_max = sizeof(sockaddr_un::sun_path) - 1 - sizeof "/socket" + 1;

/// Returns whether only this user and root can replace `path` or a folder above it.
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

/// Returns why the private server cannot use this value of XDG_RUNTIME_DIR. The result is empty if
/// the server can use it.
std::string trouble_with(const std::string& chosen) {
    if (!chosen.starts_with('/'))
        return "it is not an absolute path";
    if (!is_writable_and_ours(chosen))
        return "it is not a folder that this user owns and can write to";
    if (!is_safe_to_be_in(chosen))
        return "other users can write there";
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
    /// Why the folder that the user wanted was not chosen. Empty if that folder was chosen.
    std::string trouble;
};

/// Returns the folder of the private server that an outer `holdfast run` uses, even if this process
/// has another XDG_RUNTIME_DIR.
std::optional<std::string> folder_of_run_around() {
    const char* const folder = std::getenv("HOLDFAST_PRIVATE_SERVER");
    const char* const url = std::getenv("HOLDFAST_URL");
    const bool is_its_url = folder != nullptr && url != nullptr && *folder == '/' &&
                            url == private_folder::url_of_socket(std::string{folder} + "/socket");
    return is_its_url ? std::optional<std::string>{folder} : std::nullopt;
}

/// Chooses the folder of the private server. Commands in a terminal, in cron and after a logout
/// must all find the same server. The folder of a login session does not fit, because cron does not
/// know it, and the last logout removes it. So XDG_RUNTIME_DIR is used only if it is another folder
/// (docs/adr/0007).
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

/// Returns the path of the chosen folder. Prints a message if the user's XDG_RUNTIME_DIR cannot be
/// used, because commands with different folders do not exclude each other.
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
        refuse(path,
               std::string{"cannot be opened ("} + std::strerror(errno) +
                   "). Move the existing file away, or set XDG_RUNTIME_DIR to a folder of yours");
    descriptor folder{fd};
    struct stat found {};
    if (::fstat(fd, &found) != 0 || found.st_uid != ::geteuid())
        refuse(path, "belongs to another user. Set XDG_RUNTIME_DIR to a folder of yours");
    if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        refuse(path, "is open to others. Check that only your files are in it, then chmod 700 it");
    if ((found.st_mode & S_IRWXU) != S_IRWXU)
        ::fchmod(fd, S_IRWXU); // the umask of an earlier run may have removed a permission
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
        refuse(path,
               "would be in a folder where other users can replace it. Set XDG_RUNTIME_DIR to a "
               "folder of yours");
    if (::mkdir(path.c_str(), S_IRWXU) == 0)
        ::chmod(path.c_str(), S_IRWXU); // the umask may have removed a permission
    else if (errno != EEXIST)
        refuse(path, std::string{"cannot be created ("} + std::strerror(errno) +
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

bool private_folder::use(std::chrono::milliseconds timeout) const {
    const auto give_up_at = holdfast::boot_clock::now() + timeout;
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
    const int fd = ::openat(folder_.get(), "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                            S_IRUSR | S_IWUSR);
    if (fd < 0)
        refuse(path_, std::string{"cannot be written ("} + std::strerror(errno) +
                          "). Set XDG_RUNTIME_DIR to a folder of yours");
    descriptor file{fd};
    ::fchmod(file.get(), S_IRUSR | S_IWUSR); // a umask may have removed a permission
    // Also check `server_guard`, because a program that cleans /tmp may have removed the old lock
    // file. In that case the present lock file is new, and its flock does not show whether a server
    // runs.
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

// Starts the supervisor: a process with its own session, which outlives this process. The
// supervisor inherits only the flock of the file "lock", and a pipe to which it writes its result.

namespace {

/// Limit of open files for the server: enough for a few connections of each program.
constexpr rlim_t server_files_max = 4096;

/// Raises the limits as far as the system allows. Limits of the shell that starts the server, for
/// example `ulimit -t`, must not apply to the server, because the server serves all programs of
/// this user.
void raise_limits() noexcept {
    for (const auto resource : {RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_RSS, RLIMIT_AS,
                                RLIMIT_NPROC, RLIMIT_LOCKS, RLIMIT_NOFILE}) {
        rlimit now{};
        const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
        const rlimit many{server_files_max, server_files_max};
        if (::getrlimit(resource, &now) != 0 || ::setrlimit(resource, &none) == 0)
            continue;
        if (resource == RLIMIT_NOFILE && now.rlim_max < server_files_max &&
            ::setrlimit(resource, &many) == 0)
            continue;
        now.rlim_cur = now.rlim_max;
        ::setrlimit(resource, &now);
    }
}

/// Limit of a resource that the server needs, and the name of the limit for `ulimit`.
struct needed_limit {
    decltype(RLIMIT_NOFILE) resource;
    const char* name;
    char letter;
    rlim_t least;
    rlim_t unit; ///< number of bytes of one unit of `ulimit`; 1 for a plain number
};

/// The least limits with which a private server of every version starts and serves some programs.
/// We measured them with redis 7 and 8 and valkey 8 and 9: their own minimum is 33 open files, and
/// less than 100 MB of memory.
constexpr std::array needed_limits{
    needed_limit{RLIMIT_NOFILE, "open files", 'n', 64, 1},
    needed_limit{RLIMIT_AS, "address space", 'v', rlim_t{256} << 20U, 1024},
    needed_limit{RLIMIT_DATA, "data memory", 'd', rlim_t{128} << 20U, 1024},
    needed_limit{RLIMIT_NPROC, "processes and threads of this user", 'u', 64, 1},
};

/// Turns the child process into the supervisor. This function runs between fork and exec, so it
/// makes only async-signal-safe calls.
[[noreturn]] void become_supervisor(int lock, int report, int nothing) noexcept {
    // Detach the supervisor from the terminal and its signals. Also close inherited pipes, or a
    // program that reads the output of this process would wait for the end of the supervisor.
    ::dup2(lock, STDIN_FILENO);
    ::dup2(report, STDOUT_FILENO);
    ::dup2(nothing, STDERR_FILENO);
    ::close_range(STDERR_FILENO + 1, ~0U, 0);
    ::umask(S_IRWXG | S_IRWXO);
    [[maybe_unused]] const int moved = ::chdir("/");
    for (int number = 1; number < NSIG; ++number)
        ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    raise_limits();

    char name[] = "holdfast";
    char verb[] = "private-server";
    std::array<char*, 3> words{name, verb, nullptr};
    ::execv("/proc/self/exe", words.data());
    ::_exit(1);
}

/// Reads until the other end closes the pipe, or until the timeout.
std::string read_all(const descriptor& from, std::chrono::milliseconds timeout) {
    const auto give_up_at = holdfast::boot_clock::now() + timeout;
    std::string all;
    for (;;) {
        pollfd readable{from.get(), POLLIN, 0};
        const auto left = std::max(give_up_at - holdfast::boot_clock::now(), holdfast::duration{});
        if (::poll(&readable, 1, static_cast<int>(left.count())) == 0)
            return "the private server's supervisor does not start";
        std::array<char, 1024> chunk;
        const ssize_t got = ::read(from.get(), chunk.data(), chunk.size());
        if (got > 0)
            all.append(chunk.data(), static_cast<std::size_t>(got));
        else if (got == 0 || errno != EINTR)
            return all;
    }
}

} // namespace

void start_supervisor(const private_folder& home, const descriptor& lock) {
    pipe_ends report = make_pipe();
    const descriptor nothing{::open("/dev/null", O_RDWR | O_CLOEXEC)};
    const pid_t between = ::fork();
    if (between == 0) {
        ::setsid();
        const pid_t supervisor = ::fork(); // its parent ends at once
        if (supervisor == 0)
            become_supervisor(lock.get(), report.write.get(), nothing.get());
        ::_exit(supervisor < 0 ? 1 : 0);
    }
    if (between < 0)
        throw std::system_error{errno, std::system_category(), "fork"};
    ::waitpid(between, nullptr, 0);
    ::close(report.write.release());

    const std::string told = read_all(report.read, 2 * server_start_timeout);
    if (told != supervisor_is_ready && told != another_was_first)
        throw no_server{told.empty() ? "the private server in " + printable(home.path()) +
                                           " could not be started: its supervisor ended" +
                                           words_for_low_limits()
                                     : told};
}

std::string words_for_low_limits() {
    std::string words;
    for (const needed_limit& each : needed_limits) {
        rlimit now{};
        if (::getrlimit(each.resource, &now) != 0 || now.rlim_max >= each.least)
            continue;
        words +=
            words.empty() ? ".\nA hard limit of this session is too low for the server: " : ", ";
        const auto in_units = [&each](rlim_t limit) { return std::to_string(limit / each.unit); };
        words += std::string{each.name} + " (ulimit -H" + each.letter + ") are " +
                 in_units(now.rlim_max) + ", and must be " + in_units(each.least) + " or more";
    }
    if (!words.empty())
        words += ".\nRun the command where this limit is higher, or give a server: --url, "
                 "HOLDFAST_URL";
    return words;
}

namespace {

/// Number of requests without a reply after which the program gives up, because the server is
/// stopped or hangs. (A server that starts or ends closes or refuses connections.)
constexpr int silences_max = 2;

/// Key with the names of the counters that `holdfast run` has created. Such a counter does not keep
/// the server running unless a slot or start of it is in use: the next command can create it again.
constexpr const char* counters_of_runs = "holdfast_run_counters";

/// Counts the keys for which the server must keep running: all keys except the following kinds. One
/// script does the whole count, because no key expires while a script runs.
/// - Client information (docs/protocol/client.md), which lasts a minute longer than a killed
/// client.
/// - Records of finished requests, which only connected clients need.
/// - Counters of fencing tokens, which never expire. Dated tokens grow even if the counter is lost
/// (docs/protocol/fenced.md).
/// - Queues of fair locks. A living waiter keeps the server running by its connection, and the
/// entry of a killed waiter may stay for ever.
/// - Slots of which none is held, and rates of which no start was drawn within the interval, if
/// `holdfast run` has created them. All other slots, rates and latches count, because a program
/// relies on them.
constexpr const char* count_in_use =
    "local count = redis.call('exists', KEYS[1]) "
    "for _, kind in ipairs({'holdfast_client', 'holdfast_requests', 'redisson_lock_token', "
    "'redisson_lock_queue', 'redisson_lock_timeout'}) do "
    "count = count + #redis.call('keys', kind .. ':*') end "
    "local time = redis.call('time') "
    "local now = time[1] * 1000 + math.floor(time[2] / 1000) "
    "local function newest(key) "
    "return tonumber(redis.call('zrevrange', key, 0, 0, 'withscores')[2]) or 0 end "
    "for _, name in ipairs(redis.call('smembers', KEYS[1])) do "
    "local tag = string.find(name, '{', 1, true) and name or '{' .. name .. '}' "
    "local kind = redis.call('type', name).ok "
    "if kind == 'string' and newest(tag .. ':timeout') <= now then "
    "count = count + redis.call('exists', name, tag .. ':timeout') "
    "elseif kind == 'hash' then "
    "local per = tonumber(redis.call('hget', name, 'interval')) "
    "if per and newest(tag .. ':permits') + per <= now then "
    "count = count + redis.call('exists', name, tag .. ':permits', tag .. ':value') end end end "
    "local all = 0 "
    "for keys in string.gmatch(redis.call('info', 'keyspace'), ':keys=(%d+)') do "
    "all = all + tonumber(keys) end " // db0:keys=1,expires=1,...
    "return tostring(math.max(all - count, 0))";

/// Returns the number of keys in use. Returns 1 if the server refuses to count them. So a server
/// that refuses is not stopped.
long keys_in_use(server_link& link) {
    const std::string number =
        link.ask(std::string{"EVAL \""} + count_in_use + "\" 1 " + counters_of_runs);
    long keys = 1;
    std::from_chars(number.data(), number.data() + number.size(), keys); // an error changes nothing
    return keys;
}

/// Returns the text as a word of an inline (plain text) Redis command, with each byte escaped.
std::string in_escapes(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string all = "\"";
    for (const char each : text) {
        const auto byte = static_cast<unsigned char>(each);
        all.append({'\\', 'x', digits[byte >> 4U], digits[byte & 15U]});
    }
    return all + '"';
}

void find_or_start(const private_folder& home) {
    const auto give_up_at = holdfast::boot_clock::now() + 2 * server_start_timeout;
    for (int silences = 0;;) {
        auto link = server_link::open(home.socket());
        if (link && link->answers())
            return;
        silences += link && link->was_silent() ? 1 : 0;
        // A server that has accepted a connection runs, even if its other files are missing.
        const auto lock = link ? std::nullopt : home.try_to_serve();
        if (lock)
            start_supervisor(home, *lock);
        else if (silences == silences_max || holdfast::boot_clock::now() > give_up_at)
            throw no_server{"the private server in " + printable(home.path()) +
                            " does not answer; 'holdfast server stop --force' ends it"};
        else
            std::this_thread::sleep_for(look_again); // another program is starting the server
    }
}

/// Removes the variable from the environment. Also overwrites its value, because other processes of
/// this user can read the first environment of a process (`/proc/PID/environ`).
void forget_variable(const char* name) noexcept {
    if (char* const value = std::getenv(name))
        ::explicit_bzero(value, std::strlen(value));
    ::unsetenv(name);
}

} // namespace

holdfast::duration server_linger() {
    using namespace std::chrono_literals;
    const char* const told = std::getenv("HOLDFAST_SERVER_LINGER");
    if (told == nullptr)
        return 60s;
    return std::chrono::ceil<holdfast::duration>(
        std::min(parse_time("HOLDFAST_SERVER_LINGER", told), std::chrono::duration<double>{24h}));
}

std::string use_private_server() {
    (void)server_linger(); // find a mistake in the variable here, where the user sees the message
    // The object is static, because it marks the server as used until this process ends.
    static const private_folder home = private_folder::make();
    if (!home.use(2 * server_start_timeout))
        throw no_server{"the private server in " + printable(home.path()) + " does not end"};
    // The server and its supervisor inherit the environment, so remove the variables first.
    forget_variable("HOLDFAST_USERNAME");
    forget_variable("HOLDFAST_PASSWORD");
    find_or_start(home);
    return url_of(home);
}

void remember_counter_of_run(const std::string& name) noexcept {
    try {
        if (std::optional<server_link> link =
                server_link::open(private_folder::likely_path() + "/socket"))
            link->ask(std::string{"SADD "} + counters_of_runs + " " + in_escapes(name));
    } catch (const std::exception&) {
        return; // the server only stays longer than necessary
    }
}

std::string url_of(const private_folder& home) {
    return private_folder::url_of_socket(home.socket());
}

std::string private_server_url() {
    return private_folder::url_of_socket(private_folder::likely_path() + "/socket");
}

std::vector<std::string> variables_of_private_server(const std::string& url) {
    const std::string name = "HOLDFAST_PRIVATE_SERVER";
    if (url != private_server_url())
        return {name};
    return {name + "=" + private_folder::likely_path(), "HOLDFAST_USERNAME", "HOLDFAST_PASSWORD"};
}

server_use use_of(server_link& link) {
    server_use found;
    found.keys = keys_in_use(link);
    found.connections = number_in(link.ask("INFO clients"), "connected_clients") - 1;
    return found;
}

} // namespace cli
