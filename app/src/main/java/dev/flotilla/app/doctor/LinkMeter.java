package dev.flotilla.app.doctor;

import dev.flotilla.app.doctor.Measured.Pair;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Measures the link between this rank and one other at a time, over a connection of its own.
 *
 * <p>Latency is half the median of short messages there and back. For the rate the higher rank
 * sends as much as the link takes in about 60 ms, by what a first 64 KiB took, and 8 MiB at most.
 * What took less than 20 ms is sent again, and the best rate counts: the first bytes of a
 * connection are slow, on a fast link most of all.
 */
final class LinkMeter implements AutoCloseable {

  private static final int PINGS = 21;
  private static final int TRY_BYTES = 64 << 10;
  private static final int BLOCK_BYTES = 256 << 10;
  private static final int MOST_BYTES = 8 << 20;
  private static final double SECONDS = 0.06;
  private static final double SHORT = 0.02;
  private static final int REPEATS = 12;
  private static final int LONGEST_WAIT_MILLIS = 4000;
  private static final int TOKEN_BYTES = 16;

  private final int rank;
  private final ServerSocket listening;
  private final byte[] token = new byte[TOKEN_BYTES];
  private final Map<Integer, Socket> early = new HashMap<>();

  /** Listens on an address of this host, for those who know what {@link #place} says. */
  LinkMeter(int rank, InetAddress address) throws IOException {
    this.rank = rank;
    new SecureRandom().nextBytes(token);
    listening = new ServerSocket();
    listening.bind(new InetSocketAddress(address, 0));
    listening.setSoTimeout(LONGEST_WAIT_MILLIS);
  }

  int port() {
    return listening.getLocalPort();
  }

  /** Returns the address in what a {@link #place} says. */
  static String addressOf(String place) {
    return place.split(" ", 2)[0];
  }

  /** Returns where other ranks find this one. */
  String place() {
    return "%s %d %s"
        .formatted(
            listening.getInetAddress().getHostAddress(),
            listening.getLocalPort(),
            HexFormat.of().formatHex(token));
  }

  /**
   * Measures with another rank, which does the same; the higher one calls and learns the result.
   *
   * @param place what the other's {@link #place} says
   * @return the link, or null on the lower rank
   */
  @Nullable Pair with(int other, String place) throws IOException {
    if (rank < other) {
      try (var socket = accepted(other)) {
        answer(socket);
      }
      return null;
    }
    try (var socket = called(place)) {
      return measure(socket, other);
    }
  }

  private Socket called(String place) throws IOException {
    var words = place.split(" ", -1);
    var socket = new Socket();
    try {
      prepare(socket);
      socket.connect(
          new InetSocketAddress(InetAddress.ofLiteral(words[0]), Integer.parseInt(words[1])),
          LONGEST_WAIT_MILLIS);
      var out = new DataOutputStream(socket.getOutputStream());
      out.write(HexFormat.of().parseHex(words[2]));
      out.writeInt(rank);
      return socket;
    } catch (IOException failure) {
      socket.close();
      throw new IOException(
          "rank %d does not reach %s: %s".formatted(rank, words[0], failure.getMessage()), failure);
    }
  }

  private static void prepare(Socket socket) throws IOException {
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(LONGEST_WAIT_MILLIS);
  }

  /** The partner of a later round may call early; a stranger is sent away. */
  private Socket accepted(int wanted) throws IOException {
    while (!early.containsKey(wanted)) {
      var socket = listening.accept();
      prepare(socket);
      var in = new DataInputStream(socket.getInputStream());
      var said = in.readNBytes(TOKEN_BYTES);
      if (MessageDigest.isEqual(said, token)) {
        early.put(in.readInt(), socket);
      } else {
        socket.close();
      }
    }
    return java.util.Objects.requireNonNull(early.remove(wanted));
  }

  private Pair measure(Socket socket, int other) throws IOException {
    var in = new DataInputStream(socket.getInputStream());
    var out = new DataOutputStream(socket.getOutputStream());
    var times = new long[PINGS];
    for (int i = 0; i < PINGS; i++) {
      long start = System.nanoTime();
      out.writeByte(i);
      in.readByte();
      times[i] = System.nanoTime() - start;
    }
    Arrays.sort(times);
    double there = times[PINGS / 2] / 2e9;
    int bytes = TRY_BYTES;
    double seconds = sent(in, out, bytes);
    double best = 0;
    for (int i = 0; i == 0 || (i < REPEATS && seconds < SHORT); i++) {
      bytes = Math.clamp((long) (bytes / seconds * SECONDS), TRY_BYTES, MOST_BYTES);
      seconds = sent(in, out, bytes);
      best = Math.max(best, 8.0 * bytes / Math.max(1e-9, seconds - there));
    }
    out.writeInt(0);
    return new Pair(rank, other, there, best);
  }

  /** Returns the seconds that a message takes, with a word back. */
  private static double sent(DataInputStream in, DataOutputStream out, int bytes)
      throws IOException {
    var block = new byte[BLOCK_BYTES];
    long start = System.nanoTime();
    out.writeInt(bytes);
    for (int left = bytes; left > 0; left -= block.length) {
      out.write(block, 0, Math.min(left, block.length));
    }
    in.readByte();
    return Math.max(1, System.nanoTime() - start) / 1e9;
  }

  private static void answer(Socket socket) throws IOException {
    var in = new DataInputStream(socket.getInputStream());
    var out = new DataOutputStream(socket.getOutputStream());
    for (int i = 0; i < PINGS; i++) {
      out.writeByte(in.readByte());
    }
    // Read in blocks: what a stream skips it reads 2 KB at a time, which is slower than a fast
    // link.
    var block = new byte[BLOCK_BYTES];
    for (int bytes = in.readInt(); bytes > 0; bytes = in.readInt()) {
      for (int left = bytes; left > 0; ) {
        int read = in.read(block, 0, Math.min(left, block.length));
        if (read < 0) {
          throw new EOFException("the other rank has hung up");
        }
        left -= read;
      }
      out.writeByte(1);
    }
  }

  @Override
  public void close() throws IOException {
    listening.close();
    for (var socket : early.values()) {
      socket.close();
    }
  }
}
