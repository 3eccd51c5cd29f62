package dev.flotilla.app;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/**
 * A program without the key that disturbs a job while it starts: {@code TARGETS COUNT}. It reads
 * addresses from the first file again and again, holds connections open there, sends noise, and
 * greets by TLS without a certificate; it writes how often, and what it was let into, to the
 * second.
 */
public final class StartStranger {

  private static final int MOST_HELD = 200;
  private static final int TIMEOUT_MILLIS = 1500;
  private static final byte GREETING_OF_TLS = 22;

  private final Deque<Socket> held = new ArrayDeque<>();
  private final Random random = new Random(5);
  private final SSLContext context = SSLContext.getInstance("TLSv1.3");
  private int tries;
  private int gained;

  private StartStranger() throws GeneralSecurityException {
    context.init(null, new TrustManager[] {new BelievesAnybody()}, null);
  }

  /** Disturbs until it is killed. */
  public static void main(String[] arguments) throws Exception {
    Path targets = Path.of(arguments[0]);
    Path count = Path.of(arguments[1]);
    var stranger = new StartStranger();
    while (true) {
      for (String target : List.copyOf(Files.readAllLines(targets))) {
        stranger.disturb(target);
      }
      Files.writeString(count, "%d tries, gained %d".formatted(stranger.tries, stranger.gained));
      Thread.sleep(20);
    }
  }

  private void disturb(String target) {
    int colon = target.lastIndexOf(':');
    var address =
        new InetSocketAddress(
            target.substring(0, colon), Integer.parseInt(target.substring(colon + 1)));
    for (int kind = 0; kind < 4; kind++) {
      tries++;
      try {
        disturb(address, kind);
      } catch (IOException e) {
        // Refused, as it should be.
      }
    }
  }

  private void disturb(InetSocketAddress address, int kind) throws IOException {
    var socket = new Socket();
    socket.connect(address, TIMEOUT_MILLIS);
    socket.setSoTimeout(TIMEOUT_MILLIS);
    if (kind == 3) {
      greet(socket);
      return;
    }
    if (kind > 0) {
      var noise = new byte[200];
      random.nextBytes(noise);
      noise[0] = kind == 1 ? noise[0] : GREETING_OF_TLS;
      socket.getOutputStream().write(noise);
    }
    held.add(socket);
    if (held.size() > MOST_HELD) {
      held.remove().close();
    }
  }

  private void greet(Socket plain) throws IOException {
    try (var socket =
        (SSLSocket)
            context.getSocketFactory().createSocket(plain, "stranger", plain.getPort(), true)) {
      socket.startHandshake();
      InputStream in = socket.getInputStream();
      if (in.read() >= 0) {
        gained++;
      }
    }
  }

  /** Somebody who only wants to get in does not care whom he talks to. */
  static final class BelievesAnybody implements X509TrustManager {

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
