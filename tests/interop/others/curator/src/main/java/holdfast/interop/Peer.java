// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import java.io.IOException;

public final class Peer {
    private Peer() {}

    /** {@code bench <address>}: takes turns in ./dev bench. */
    public static void main(String[] words) throws IOException {
        if (words.length == 2 && words[0].equals("bench")) {
            Bench.takeTurns(words[1]);
        }
        Conversation.about(new Clients());
    }
}
