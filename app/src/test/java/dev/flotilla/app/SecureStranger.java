package dev.flotilla.app;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;

/**
 * A program that does to the ports of a job with {@code --secure} what somebody can who does not
 * hold its key, from before its start on: {@code TRIES CAPTURE TARGETS REFUSING}.
 *
 * <p>CAPTURE is what has gone over the network so far, TARGETS lists where the job listens now,
 * REFUSING where it must not. A try is one that has found somebody listening; what it may get is a
 * refusal, or words of a greeting by TLS that comes to nothing.
 */
public final class SecureStranger {

  private static final int PATIENCE_MILLIS = 1000;
  private static final int PACE_MILLIS = 20;
  private static final int MOST_HELD = 200;
  private static final int MOST_OF_CAPTURE = 1 << 16;

  /** Kinds of records of TLS: 20 to 23, of which the last carries what is encrypted. */
  private static final int ENCRYPTED = 23;

  /** More than the end that listens says before it knows whom it talks to. */
  private static final int RECORDS_OF_GREETING = 8;

  private static final int REFUSED = 4;

  /** What it says before the first try. */
  static final String READY = "begins to try";

  /** What is tried. */
  private enum Attack {
    READ,
    JOIN,
    REPLAY,
    REFLECT,
    NOISE,
    NOISE_IN_TLS,
    HUGE,
    SERIALIZED,
    NO_CERTIFICATE,
    OWN_CERTIFICATE,
    OLD_TLS,
    SILENCE,
    STALL,
    FLOOD
  }

  private final Random random = new Random(27);
  private final List<Path> files;
  private final SSLContext anonymous;
  private final SSLContext named;
  private final Deque<Socket> held = new ArrayDeque<>();
  private final Map<Attack, Integer> tries = new EnumMap<>(Attack.class);
  private int count;
  private int atStart;
  private int answered;
  private int gained;

  private SecureStranger(List<Path> files) throws Exception {
    this.files = files;
    this.anonymous = context(new KeyManager[0]);
    this.named = context(ownCertificate(files.getFirst().resolveSibling("stranger.p12")));
  }

  /** Tries, and says what came of it. */
  public static void main(String[] arguments) throws Exception {
    int most = Integer.parseInt(arguments[0]);
    var stranger = new SecureStranger(Stream.of(arguments).skip(1).map(Path::of).toList());
    System.out.println(READY);
    for (int i = 0; stranger.count < most; i++) {
      stranger.attempt(Attack.values()[i % Attack.values().length]);
      Thread.sleep(PACE_MILLIS);
    }
    System.out.printf(
        "tries %d, answered %d, gained %d %s, %d of them until the job trained%n",
        stranger.count, stranger.answered, stranger.gained, stranger.tries, stranger.atStart);
  }

  private static SSLContext context(KeyManager[] keys) throws GeneralSecurityException {
    var context = SSLContext.getInstance("TLS");
    context.init(keys, new TrustManager[] {new StartStranger.BelievesAnybody()}, null);
    return context;
  }

  /** Looks like that of the job, but for the key. */
  private static KeyManager[] ownCertificate(Path file) throws Exception {
    String password = "stranger";
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keyalg",
                "Ed25519",
                "-dname",
                "CN=flotilla job",
                "-alias",
                "job",
                "-keystore",
                file.toString(),
                "-storepass",
                password)
            .inheritIO()
            .start();
    if (!keytool.waitFor(170, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      throw new IOException("keytool makes no certificate");
    }
    KeyStore store = KeyStore.getInstance(file.toFile(), password.toCharArray());
    var factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, password.toCharArray());
    return factory.getKeyManagers();
  }

  private void attempt(Attack attack) throws IOException {
    List<String> refusing = Files.readAllLines(files.get(2));
    refusing.forEach(this::mustRefuse);
    atStart = refusing.isEmpty() ? count : atStart;
    for (String target : Files.readAllLines(files.get(1))) {
      try {
        Socket socket = connect(target);
        count++;
        tries.merge(attack, 1, Integer::sum);
        attempt(attack, socket, target);
      } catch (IOException e) {
        // Turned away, or nobody is there yet.
      }
    }
  }

  private void attempt(Attack attack, Socket socket, String target) throws IOException {
    switch (attack) {
      case SILENCE -> hold(socket, new byte[0]);
      case STALL -> hold(socket, new byte[] {22});
      case FLOOD -> {
        for (int i = 0; i < 50; i++) {
          hold(connect(target), i % 2 == 0 ? new byte[0] : new byte[] {22, 3, 1});
        }
      }
      case NO_CERTIFICATE -> greet(socket, anonymous, "TLSv1.3");
      case OWN_CERTIFICATE -> greet(socket, named, "TLSv1.3");
      case OLD_TLS -> greet(socket, named, "TLSv1.2");
      default -> talk(socket, content(attack));
    }
  }

  private byte[] content(Attack attack) throws IOException {
    int control = DisturbedJob.CONTROL;
    return switch (attack) {
      case READ -> HexFormat.of().parseHex("3c85f7ce0001020300");
      case JOIN -> frame(2, noise(81));
      case REPLAY -> captured(it -> it.to() == control);
      case REFLECT -> captured(it -> it.from() == control);
      case NOISE_IN_TLS -> frameOfTls(noise(200));
      case HUGE -> new byte[] {0x7f, -1, -1, -1};
      case SERIALIZED ->
          HexFormat.of().parseHex("aced0005737200116a6176612e7574696c2e486173684d6170");
      default -> noise(1 + random.nextInt(8000));
    };
  }

  private byte[] captured(Predicate<Capture.Packet> which) throws IOException {
    var bytes = new ByteArrayOutputStream();
    Capture.read(files.getFirst()).stream()
        .filter(which)
        .takeWhile(_ -> bytes.size() < MOST_OF_CAPTURE)
        .forEach(it -> it.writeTo(bytes));
    return bytes.toByteArray();
  }

  private static byte[] frame(int kind, byte[] fields) {
    var frame = ByteBuffer.allocate(5 + fields.length).putInt(1 + fields.length);
    return frame.put((byte) kind).put(fields).array();
  }

  private static byte[] frameOfTls(byte[] content) {
    var frame = ByteBuffer.allocate(5 + content.length).put((byte) 22).putShort((short) 0x301);
    return frame.putShort((short) content.length).put(content).array();
  }

  private byte[] noise(int length) {
    var noise = new byte[length];
    random.nextBytes(noise);
    return noise;
  }

  private static Socket connect(String target) throws IOException {
    int colon = target.lastIndexOf(':');
    var socket = new Socket();
    socket.connect(
        new InetSocketAddress(
            target.substring(0, colon), Integer.parseInt(target.substring(colon + 1))),
        PATIENCE_MILLIS);
    socket.setSoTimeout(PATIENCE_MILLIS);
    return socket;
  }

  private void mustRefuse(String target) {
    try (var socket = connect(target)) {
      gained++;
      System.out.println("gained a connection to " + socket.getRemoteSocketAddress());
    } catch (IOException e) {
      // Nobody listens.
    }
  }

  /** Keeps a connection open for as long as it is suffered. */
  private void hold(Socket socket, byte[] begin) throws IOException {
    socket.getOutputStream().write(begin);
    held.add(socket);
    if (held.size() > MOST_HELD) {
      held.remove().close();
    }
  }

  /** Says something without TLS, or what looks like it, and reads what is said to that. */
  private void talk(Socket socket, byte[] content) throws IOException {
    try (socket) {
      socket.getOutputStream().write(content);
      var in = new DataInputStream(socket.getInputStream());
      for (int encrypted = 0; ; ) {
        int kind = in.readUnsignedByte();
        answered++;
        if (kind == 0) {
          judgeFrame(in);
          continue;
        }
        in.skipNBytes(2);
        in.skipNBytes(in.readUnsignedShort());
        encrypted += kind == ENCRYPTED ? 1 : 0;
        if (kind < 20 || kind > ENCRYPTED || encrypted > RECORDS_OF_GREETING) {
          gain("record %d of kind %d".formatted(encrypted, kind));
          return;
        }
      }
    } catch (EOFException e) {
      // That was all.
    }
  }

  /** A frame of the launchers may say why it is refused, and nothing else. */
  private void judgeFrame(DataInputStream in) throws IOException {
    int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
    int kind = in.readUnsignedByte();
    in.skipNBytes(length - 1L);
    if (kind != REFUSED) {
      gain("frame of kind " + kind);
    }
  }

  /** With TLS 1.3 who calls learns from what follows only whether he is let in. */
  private void greet(Socket plain, SSLContext context, String version) throws IOException {
    try (var socket =
        (SSLSocket)
            context.getSocketFactory().createSocket(plain, "stranger", plain.getPort(), true)) {
      socket.setEnabledProtocols(new String[] {version});
      socket.startHandshake();
      answered++;
      socket.getOutputStream().write(content(Attack.JOIN));
      if (socket.getInputStream().read() >= 0) {
        gain("word by " + version);
      }
    }
  }

  private void gain(String what) {
    gained++;
    System.out.println("gained a " + what);
  }
}
