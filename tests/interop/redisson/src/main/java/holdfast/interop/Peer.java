// SPDX-License-Identifier: Apache-2.0
package holdfast.interop;

import java.io.IOException;

public final class Peer {
    private Peer() {}

    public static void main(String[] none) throws IOException {
        Conversation.about(new Clients());
    }
}
