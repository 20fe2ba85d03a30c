// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What one worker knew, and when: a line each, with the nanoseconds of CLOCK_MONOTONIC, which all
 * processes of a machine share. Written at once and unbuffered, so that it survives a kill.
 */
final class History {
    private final FileChannel file;

    History(String path) throws IOException {
        file = FileChannel.open(Path.of(path), StandardOpenOption.CREATE_NEW,
                StandardOpenOption.WRITE);
    }

    /** A server counts a lease from the beginning of the millisecond in which it grants it. */
    static long sureFor(long lease) {
        return lease > 0 ? lease - 1 : 0;
    }

    /** {@code lease}: for so long from here it is sure of the lock if it is granted; 0: renewed. */
    void asks(String name, long lease) {
        write("asks " + name + " " + lease);
    }

    /** For so many permits of a semaphore. */
    void asksForPermits(String name, int permits) {
        write("asks " + name + " 0 " + permits);
    }

    /** For one that is leased for so long. */
    void asksForPermit(String name, long lease) {
        write("asks " + name + " " + lease + " 1");
    }

    void holds(String name) {
        write("holds " + name);
    }

    /** Beside others; also when it had the lock alone until now. */
    void shares(String name) {
        write("shares " + name);
    }

    void token(String name, long token) {
        write("token " + name + " " + token);
    }

    void givesUp(String name) {
        write("gives-up " + name);
    }

    void leaves(String name) {
        write("leaves " + name);
    }

    /** {@code ours}: whether it was still ours when it was released. */
    void left(String name, boolean ours) {
        write((ours ? "left " : "lost ") + name);
    }

    /** So many permits of a rate limiter. */
    void draws(String name, int permits) {
        write("draws " + name + " " + permits);
    }

    void drew(String name) {
        write("drew " + name);
    }

    /** A draw failed since somebody else had drawn meanwhile. */
    void overtaken(String name) {
        write("overtaken " + name);
    }

    /** A latch, to that count. */
    void sets(String name, int count) {
        write("sets " + name + " " + count);
    }

    void set(String name) {
        write("set " + name);
    }

    void countsDown(String name) {
        write("counts-down " + name);
    }

    void countedDown(String name) {
        write("counted-down " + name);
    }

    /** Until it is open. */
    void waits(String name) {
        write("waits " + name);
    }

    void passed(String name) {
        write("passed " + name);
    }

    void failed(String why) {
        write("failed " + why.replace('\n', ' '));
    }

    private void write(String what) {
        String line = System.nanoTime() + " " + what + "\n";
        try {
            file.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
        } catch (IOException unwritable) {
            throw new IllegalStateException(unwritable);
        }
    }
}
