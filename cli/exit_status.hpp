// SPDX-License-Identifier: Apache-2.0
// What the program ends with, where it is not the command's own status. The numbers are those of
// flock(1), of the shells, and of sysexits.h.
#pragma once

namespace cli {

enum exit_status : int {
    success = 0,
    busy = 1,            ///< unless -E says otherwise
    is_free = 1,         ///< of inspect and unlock: nobody holds it
    left_alone = 1,      ///< of unlock: the answer was no
    found_trouble = 1,   ///< of the doctor: something is to be done
    not_running = 1,     ///< of the private server
    in_use = 1,          ///< of the private server, which is not stopped then
    wrong_result = 1,    ///< of the demo: the count is wrong
    usage = 64,          ///< EX_USAGE
    no_lock = 65,        ///< EX_DATAERR: what has that name is no lock
    unavailable = 69,    ///< EX_UNAVAILABLE: the server cannot be asked, or will not do it
    internal_error = 70, ///< EX_SOFTWARE
    system_error = 71,   ///< EX_OSERR: the machine would not give us a process, say
    unwritten = 74,      ///< EX_IOERR: stdout takes no more
    lock_lost = 75,      ///< EX_TEMPFAIL
    cannot_execute = 126,
    not_found = 127,
    signalled = 128, ///< plus the number of the signal
};

} // namespace cli
