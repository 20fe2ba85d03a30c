// SPDX-License-Identifier: Apache-2.0
#include "cli/ticket/keeper.hpp"

#include "cli/server/server_access.hpp"

#include <holdfast/client.hpp>
#include <holdfast/error.hpp>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <limits>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/types.h>
#include <unistd.h>

namespace cli {
namespace {

/// Leaves the session of the caller, and closes all inherited files except `kept`. With an open
/// stdout, a shell that reads the caller's output would wait for the end of this process.
void leave_caller(int kept) {
    constexpr int descriptors_max = 1024;
    (void)::setsid();
    (void)::chdir("/");
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        (void)::dup2(nothing, standard);
    for (int each = STDERR_FILENO + 1; each < descriptors_max; ++each)
        if (each != kept)
            (void)::close(each);
}

/// Waits for the end of the process, at most for `longest`. Returns whether the process has ended.
bool ends_within(int process, holdfast::duration longest) {
    const auto most =
        std::min<holdfast::duration::rep>(longest.count(), std::numeric_limits<int>::max());
    pollfd watched{.fd = process, .events = POLLIN, .revents = 0};
    return ::poll(&watched, 1, static_cast<int>(most)) > 0;
}

/// Renews the hold every third of its lease. Continues until the process has ended, or until the
/// hold has ended.
void renew_until_end(holdfast::client& home, const keeping& what, int process) {
    holdfast::time_point lasts_until = holdfast::boot_clock::now() + what.lease;
    while (!ends_within(process, what.lease / 3)) {
        const holdfast::time_point sent_at = holdfast::boot_clock::now();
        try {
            if (!home.renew(what.which, holdfast::lease_time{what.lease}))
                return;
            lasts_until = sent_at + what.lease;
        } catch (const boost::system::system_error&) {
            if (holdfast::boot_clock::now() >= lasts_until)
                return;
        }
    }
    (void)home.give(what.which);
}

} // namespace

void start_keeper(const keeping& what, const descriptor& whose) {
    const pid_t child = ::fork();
    if (child < 0)
        throw std::system_error{errno, std::generic_category(), "fork()"};
    if (child > 0)
        return;
    leave_caller(whose.get());
    try {
        holdfast::client home{reaching(what.server)};
        renew_until_end(home, what, whose.get());
    } catch (const std::exception&) {
        ::_exit(1); // the lock becomes free when its lease ends
    }
    ::_exit(0);
}

} // namespace cli
