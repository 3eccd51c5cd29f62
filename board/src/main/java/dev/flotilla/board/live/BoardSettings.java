package dev.flotilla.board.live;

import java.nio.file.Path;

/**
 * What a board shows, and where.
 *
 * @param folder the runs below it are shown
 * @param host name or address of this host to listen on
 * @param port to listen on, or 0 for one that is free
 */
public record BoardSettings(Path folder, String host, int port) {

  /** Loopback: nobody on another host can connect. */
  public static final String LOOPBACK = "127.0.0.1";

  /** Where it listens unless told otherwise. */
  public static final int PORT = 7007;

  /** Checks what can be checked without opening anything. */
  public BoardSettings {
    if (port < 0 || port > 65_535) {
      throw new BoardException(
          "--port: must be from 0 (any that is free) to 65535, but was " + port);
    }
    if (host.isBlank()) {
      throw new BoardException("--host: is empty; leave it out, or give an address of this host");
    }
  }
}
