package dev.flotilla.collective;

import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The first words of a client of the native store: a fixed number, then one that the store repeats.
 *
 * <p>Native code says the same on its own connection, but takes all the time it has, and prints
 * pages, when a proxy or another service answers at the address.
 */
final class StoreGreeting {

  private static final byte VALIDATE = 0;
  private static final int VALIDATION_NUMBER = 0x3C85F7CE;
  private static final byte PING = 13;
  private static final int ANY_NUMBER = 0x0F107111;

  private StoreGreeting() {}

  /** Tells whether a store is at the other end; the read timeout of the socket is the limit. */
  static boolean isAnsweredBy(Socket socket) throws IOException {
    socket.getOutputStream().write(question());
    byte[] answer = socket.getInputStream().readNBytes(Integer.BYTES);
    return Arrays.equals(answer, number(ANY_NUMBER));
  }

  private static byte[] question() {
    return ByteBuffer.allocate(2 + 2 * Integer.BYTES)
        .put(VALIDATE)
        .put(number(VALIDATION_NUMBER))
        .put(PING)
        .put(number(ANY_NUMBER))
        .array();
  }

  private static byte[] number(int number) {
    return ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder()).putInt(number).array();
  }
}
