// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

/** How a library's locks are taken in a turn, and what is written down of it. */
interface Turns {
    void take(Command.Turn turn, String name) throws Throwable;
}
