package dev.flotilla.control;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Sockets that only this host reaches. */
public final class LocalSocket {

  /** Longest name that every system takes for a socket, in bytes. */
  private static final int LONGEST_NAME = 100;

  private LocalSocket() {}

  /** Tells whether a file can be a socket. */
  static boolean canBe(Path file) {
    return file.toString().getBytes(StandardCharsets.UTF_8).length <= LONGEST_NAME;
  }

  /** Listens at a file, or, where its name is too long for that, at a port of loopback. */
  public static ServerSocketChannel listen(Path file) throws IOException {
    return canBe(file)
        ? ServerSocketChannel.open(StandardProtocolFamily.UNIX)
            .bind(UnixDomainSocketAddress.of(file))
        : ServerSocketChannel.open()
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }
}
