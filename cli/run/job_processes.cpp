// SPDX-License-Identifier: Apache-2.0
#include "cli/run/job_processes.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cli {
namespace {

std::string proc_file(pid_t id, const char* name) {
    return "/proc/" + std::to_string(id) + "/" + name;
}

std::string text_of(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

bool has_children() {
    siginfo_t ignored{};
    return ::waitid(P_ALL, 0, &ignored, WEXITED | WNOHANG | WNOWAIT) == 0;
}

bool runs_private_server(pid_t id) {
    using namespace std::string_view_literals;
    return text_of(proc_file(id, "cmdline")) == "holdfast\0private-server\0"sv;
}

/// Returns whether the process runs the same program file as this process.
bool is_holdfast(pid_t id) {
    struct stat ours {};
    struct stat its {};
    return ::stat("/proc/self/exe", &ours) == 0 &&
           ::stat(proc_file(id, "exe").c_str(), &its) == 0 && ours.st_ino == its.st_ino &&
           ours.st_dev == its.st_dev;
}

bool has_signal(const std::string& status, std::string_view field, int signal) {
    const std::size_t at = status.find(field);
    if (at == std::string::npos)
        return false;
    const unsigned long long mask = std::strtoull(status.c_str() + at + field.size(), nullptr, 16);
    return (mask >> (static_cast<unsigned>(signal) - 1U) & 1U) != 0;
}

/// Returns whether the signal has an effect on the process. By default WINCH has no effect.
bool heeds(pid_t id, int signal) {
    const std::string status = text_of(proc_file(id, "status"));
    return signal == SIGWINCH ? has_signal(status, "\nSigCgt:\t", signal)
                              : !has_signal(status, "\nSigIgn:\t", signal);
}

} // namespace

std::vector<job_processes::process> job_processes::all_on_machine() {
    std::vector<process> all;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder{::opendir("/proc"), ::closedir};
    while (const dirent* const entry = folder ? ::readdir(folder.get()) : nullptr) {
        const std::string_view name{entry->d_name};
        process one{};
        const auto parsed = std::from_chars(name.data(), name.data() + name.size(), one.id);
        if (parsed.ec != std::errc{} || parsed.ptr != name.data() + name.size())
            continue;
        const std::string stat = text_of(proc_file(one.id, "stat"));
        // the name of a program may contain both characters
        const std::size_t name_end = stat.rfind(") ");
        char state = 0;
        if (name_end == std::string::npos ||
            std::sscanf(stat.c_str() + name_end + 2,
                        "%c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
                        "%llu",
                        &state, &one.parent, &one.group, &one.started) != 4)
            continue;
        if (state != 'Z' && state != 'X')
            all.push_back(one);
    }
    return all;
}

std::vector<job_processes::process> job_processes::find(bool below_other_runs) const {
    const std::vector<process> all = all_on_machine();
    std::vector<process> found;
    std::vector<pid_t> parents{::getpid()};
    while (!parents.empty()) {
        const pid_t parent = parents.back();
        parents.pop_back();
        for (const process& each : all) {
            if (each.parent != parent || strangers_.contains({each.id, each.started}) ||
                runs_private_server(each.id))
                continue;
            found.push_back(each);
            if (below_other_runs || !is_holdfast(each.id))
                parents.push_back(each.id);
        }
    }
    return found;
}

job_processes::job_processes() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!has_children())
        return;
    for (const process& each : all_on_machine())
        if (each.parent == ::getpid())
            strangers_.emplace(each.id, each.started);
}

void job_processes::reap(pid_t command) const noexcept {
    siginfo_t ended{};
    while (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0 &&
           ended.si_pid != command) {
        ::waitpid(ended.si_pid, nullptr, WNOHANG);
        ended = {};
    }
}

bool job_processes::any_left(pid_t command) const {
    if (!has_children())
        return false;
    const std::vector<process> left = find(true);
    return std::ranges::any_of(left, [&](const process& each) { return each.id != command; });
}

void job_processes::signal(int number, pid_t group) const {
    for (const process& each : find(false))
        if (each.group != group)
            ::kill(each.id, number);
}

void job_processes::kill() const {
    for (const process& each : find(true))
        ::kill(each.id, SIGKILL);
}

void job_processes::tell_orphans(int heard, pid_t group) {
    for (const process& each : find(false)) {
        if (each.parent != ::getpid() || !told_.emplace(each.id, each.started).second)
            continue;
        const bool has_heard = each.group == group && heeds(each.id, heard);
        if (!has_heard)
            ::kill(each.id, SIGTERM);
    }
}

} // namespace cli
