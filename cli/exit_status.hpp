// SPDX-License-Identifier: Apache-2.0
// Exit statuses of the program. `holdfast run` normally exits with the status of its command
// instead. The numbers follow flock(1), the shells, and sysexits.h.
#pragma once

namespace cli {

enum exit_status : int {
    success = 0,
    busy = 1,            ///< the lock is not free; -E changes this number
    is_free = 1,         ///< inspect, unlock: the lock is free
    left_alone = 1,      ///< unlock: the user answered "no"
    found_trouble = 1,   ///< doctor: found a problem that needs action
    not_running = 1,     ///< the private server does not run
    in_use = 1,          ///< the private server is in use, so it is not stopped
    wrong_result = 1,    ///< demo: the counted number is wrong
    usage = 64,          ///< EX_USAGE
    no_lock = 65,        ///< EX_DATAERR: the name belongs to something that is not a lock
    unavailable = 69,    ///< EX_UNAVAILABLE: the server cannot be reached, or refuses
    internal_error = 70, ///< EX_SOFTWARE
    system_error = 71,   ///< EX_OSERR: the system refused a call, for example fork()
    unwritten = 74,      ///< EX_IOERR: stdout could not be written
    lock_lost = 75,      ///< EX_TEMPFAIL
    cannot_execute = 126,
    not_found = 127,
    signalled = 128, ///< plus the number of the signal
};

} // namespace cli
