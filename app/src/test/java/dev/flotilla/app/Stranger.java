package dev.flotilla.app;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;

/**
 * A program that does to the ports of a job whatever somebody can who does not hold its key: {@code
 * TRIES CAPTURE LOOT CONTROL PORT…}.
 *
 * <p>CAPTURE is what went over the network before, LOOT the file that it would like the job to
 * write, CONTROL where the launchers talk and each PORT an address that the job uses otherwise. It
 * says what it has got; nothing else than a challenge or a refusal may be.
 */
public final class Stranger {

  private static final int PATIENCE_MILLIS = 1000;
  private static final int MOST_HELD = 200;
  private static final int MOST_PENDING = 2000;
  private static final byte CHALLENGE = 1;
  private static final byte REFUSED = 4;

  /** What is tried. */
  private enum Attack {
    READ,
    JOIN,
    REPLAY,
    REFLECT,
    REDIRECT,
    COMMAND,
    NOISE,
    HUGE,
    NEGATIVE,
    GLOO,
    SERIALIZED,
    SILENCE,
    STALL,
    FLOOD,
    USE_PORT
  }

  private final Random random = new Random(27);
  private final InetSocketAddress control;
  private final List<InetSocketAddress> ports;
  private final byte[] recorded;
  private final byte[] answers;
  private final String loot;
  private final Deque<Socket> held = new ArrayDeque<>();
  private final Deque<SocketChannel> pending = new ArrayDeque<>();
  private final Map<Attack, Integer> tries = new EnumMap<>(Attack.class);
  private int answered;
  private int gained;

  private Stranger(List<String> arguments) throws IOException {
    loot = arguments.get(2);
    control = address(arguments.get(3));
    ports = arguments.stream().skip(4).map(Stranger::address).toList();
    var packets = Capture.read(Path.of(arguments.get(1)));
    recorded = stream(packets.stream().filter(it -> it.to() == control.getPort()));
    answers = stream(packets.stream().filter(it -> it.from() == control.getPort()));
    if (recorded.length == 0 || answers.length == 0) {
      throw new IOException("nothing was captured that could be sent again");
    }
  }

  private static InetSocketAddress address(String text) {
    int colon = text.lastIndexOf(':');
    return new InetSocketAddress(
        text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
  }

  private static byte[] stream(Stream<Capture.Packet> packets) {
    var bytes = new ByteArrayOutputStream();
    packets.forEach(it -> it.writeTo(bytes));
    return bytes.toByteArray();
  }

  /** Tries, and says what came of it. */
  public static void main(String[] arguments) throws IOException {
    var stranger = new Stranger(List.of(arguments));
    int count = Integer.parseInt(arguments[0]);
    for (int i = 0; i < count; i++) {
      stranger.attempt(Attack.values()[i % Attack.values().length]);
    }
    System.out.printf(
        "tries %d, answered %d, gained %d %s%n",
        count, stranger.answered, stranger.gained, stranger.tries);
  }

  private void attempt(Attack attack) {
    tries.merge(attack, 1, Integer::sum);
    switch (attack) {
      case USE_PORT -> ports.forEach(this::use);
      case FLOOD -> flood();
      case SILENCE -> hold(new byte[0]);
      case STALL -> hold(new byte[] {0});
      default -> talk(content(attack));
    }
  }

  private byte[] content(Attack attack) {
    return switch (attack) {
      // TCPStore's magic number, then questions for keys.
      case READ -> bytes(0x3c85f7ce).put(new byte[] {0, 1, 2, 3}).array();
      case JOIN -> hello();
      case REPLAY -> random.nextBoolean() ? recorded : firstFrame(recorded);
      case REFLECT -> answers;
      case REDIRECT -> join(hello(), put("meeting 1/world/store/folder", loot));
      case COMMAND -> frame(7 + random.nextInt(15), new byte[8 + random.nextInt(40)]);
      case HUGE -> bytes(Integer.MAX_VALUE).array();
      case NEGATIVE -> bytes(-1).array();
      // J9: an object stream that begins with a map, as those do that run code where they are read.
      case SERIALIZED ->
          HexFormat.of().parseHex("aced0005737200116a6176612e7574696c2e486173684d6170");
      case GLOO -> bytes(random.nextInt(8)).putInt(random.nextInt(8)).array();
      default -> noise(1 + random.nextInt(8000));
    };
  }

  private byte[] noise(int length) {
    var noise = new byte[length];
    random.nextBytes(noise);
    return noise;
  }

  private static ByteBuffer bytes(int first) {
    return ByteBuffer.allocate(8).putInt(first);
  }

  /** Says to be a rank or a launcher, with a proof that is none. */
  private byte[] hello() {
    return frame(
        2,
        ByteBuffer.allocate(17 + 64)
            .put((byte) random.nextInt(2))
            .putInt(random.nextInt(3))
            .putLong(random.nextLong())
            .putInt(0)
            .put(noise(64))
            .array());
  }

  private static byte[] put(String key, String value) {
    try {
      var bytes = new ByteArrayOutputStream();
      var out = new DataOutputStream(bytes);
      out.writeUTF(key);
      byte[] text = value.getBytes(StandardCharsets.UTF_8);
      out.writeInt(text.length);
      out.write(text);
      return frame(18, bytes.toByteArray());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static byte[] frame(int kind, byte[] fields) {
    return ByteBuffer.allocate(5 + fields.length)
        .putInt(1 + fields.length)
        .put((byte) kind)
        .put(fields)
        .array();
  }

  private static byte[] firstFrame(byte[] stream) {
    int length = ByteBuffer.wrap(stream).getInt();
    return ByteBuffer.allocate(4 + length).put(stream, 0, 4 + length).array();
  }

  private static byte[] join(byte[] first, byte[] second) {
    return ByteBuffer.allocate(first.length + second.length).put(first).put(second).array();
  }

  /** Says something at the launchers' port, and looks at the answer. */
  private void talk(byte[] content) {
    try (var socket = connect(control)) {
      byte[] challenge = readFrame(socket);
      judge(challenge, CHALLENGE);
      socket.getOutputStream().write(content);
      judge(readFrame(socket), REFUSED);
      judge(readFrame(socket), REFUSED);
    } catch (SocketTimeoutException e) {
      // No answer is none.
    } catch (IOException e) {
      // Turned away.
    }
  }

  private void judge(byte[] frame, byte allowed) {
    if (frame.length == 0) {
      return;
    }
    answered++;
    if (frame[0] != allowed) {
      gained++;
      System.out.println("gained a frame of kind " + frame[0]);
    }
  }

  private static byte[] readFrame(Socket socket) throws IOException {
    byte[] length = socket.getInputStream().readNBytes(4);
    return length.length < 4
        ? new byte[0]
        : socket.getInputStream().readNBytes(Math.min(1 << 20, ByteBuffer.wrap(length).getInt()));
  }

  private static Socket connect(InetSocketAddress address) throws IOException {
    var socket = new Socket();
    socket.setSoTimeout(PATIENCE_MILLIS);
    socket.connect(address, PATIENCE_MILLIS);
    return socket;
  }

  /** Keeps a connection open for as long as it is suffered. */
  private void hold(byte[] begin) {
    try {
      Socket socket = connect(control);
      socket.getOutputStream().write(begin);
      held.add(socket);
      if (held.size() > MOST_HELD) {
        held.remove().close();
      }
    } catch (IOException e) {
      // Turned away.
    }
  }

  private void flood() {
    for (int i = 0; i < 50; i++) {
      hold(i % 2 == 0 ? new byte[0] : new byte[] {0, 0, 0});
    }
    exhaust();
  }

  /** J4: holds more connections than a process of the job may have files. */
  private void exhaust() {
    for (int i = 0; i < MOST_PENDING / 2; i++) {
      try {
        SocketChannel channel = SocketChannel.open();
        channel.configureBlocking(false);
        boolean _ = channel.connect(control);
        pending.add(channel);
        if (pending.size() > MOST_PENDING) {
          pending.remove().close();
        }
      } catch (IOException e) {
        // Turned away.
      }
    }
  }

  /** Whatever else the job uses must not be open to anybody. */
  private void use(InetSocketAddress port) {
    try (var socket = connect(port)) {
      gained++;
      System.out.println("gained a connection to " + socket.getRemoteSocketAddress());
    } catch (IOException e) {
      // Nobody listens.
    }
  }
}
