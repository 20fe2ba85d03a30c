// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import java.io.IOException;

/** Clients of a library of locks, by the name that commands give them, and what can be asked of them. */
interface Library {
    /** What the client is known by: the beginning of the owners that it writes, or a version. */
    String connect(Command command) throws Throwable;

    /** The same object each time, as in a program that keeps its lock. */
    Object object(Command command) throws Throwable;

    Crew start(Command command) throws IOException;

    Object close(String client) throws Throwable;

    /** A verb that only some libraries understand. */
    default Object other(Command command) throws Throwable {
        throw new IllegalArgumentException(command.verb());
    }
}
