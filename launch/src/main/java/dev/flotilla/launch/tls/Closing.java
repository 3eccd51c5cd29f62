package dev.flotilla.launch.tls;

import java.io.Closeable;
import java.io.IOException;
import java.net.Socket;

/** Closes what is of no use any more. */
final class Closing {

  private static final int LINGERS_MILLIS = 1000;
  private static final int MOST_UNREAD = 1 << 16;

  private Closing() {}

  /** What is closed with something unread is reset, and the other end never reads the last word. */
  static void afterLastWord(Socket socket) {
    try {
      socket.setSoTimeout(LINGERS_MILLIS);
      socket.shutdownOutput();
      socket.getInputStream().skipNBytes(MOST_UNREAD);
    } catch (IOException e) {
      // The other end has closed, or says nothing more.
    }
    quietly(socket);
  }

  static void quietly(Closeable it) {
    try {
      it.close();
    } catch (IOException e) {
      // Nothing is left that could be lost.
    }
  }
}
