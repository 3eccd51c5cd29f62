package dev.flotilla.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Pages that never read, requests without end, and a body that is far too large. */
final class BoardAttack implements AutoCloseable {

  private static final int SLOW = 500;
  private static final int THREADS = 4;
  private static final long REQUEST_NANOS = THREADS * 1_000_000L; // 1,000 a second in all

  private final URI link;
  private final String host;
  private final String cookie;
  private final AtomicLong offered = new AtomicLong();
  private final AtomicLong answered = new AtomicLong();
  private final List<Socket> slow = new ArrayList<>();
  private List<Thread> threads = List.of();
  private long started;
  private long nanos;

  BoardAttack(String link) throws IOException {
    this.link = URI.create(link);
    this.host = "Host: %s:%d\r\n".formatted(this.link.getHost(), this.link.getPort());
    this.cookie = enter();
  }

  private Socket connect() throws IOException {
    return new Socket(link.getHost(), link.getPort());
  }

  private static void send(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
  }

  private String enter() throws IOException {
    var token = link.getFragment().substring(2);
    try (var socket = connect()) {
      send(
          socket,
          "POST /api/session HTTP/1.1\r\n%sOrigin: http://%s:%d\r\nContent-Length: %d\r\n\r\n%s"
              .formatted(host, link.getHost(), link.getPort(), token.length(), token));
      var lines = lines(socket);
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.regionMatches(true, 0, "Set-Cookie: ", 0, 12)) {
          return "Cookie: " + line.substring(12, line.indexOf(';')) + "\r\n";
        }
      }
      throw new IOException("the board gave no cookie");
    }
  }

  private static BufferedReader lines(Socket socket) throws IOException {
    return new BufferedReader(
        new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
  }

  String obey(String order) throws IOException {
    switch (order) {
      case "on" -> begin();
      case "off" -> end();
      default -> {}
    }
    double seconds = Math.max(1e-9, nanos / 1e9);
    return order.equals("rate")
        ? String.valueOf(offered.get() / seconds)
        : String.format(
            Locale.ROOT,
            "%.0f requests a second, %.0f of them answered",
            offered.get() / seconds,
            answered.get() / seconds);
  }

  private void begin() throws IOException {
    if (!threads.isEmpty()) {
      return;
    }
    for (int i = 0; i < SLOW; i++) {
      var socket = connect();
      send(socket, "GET /api/events HTTP/1.1\r\n" + host + cookie + "\r\n");
      slow.add(socket);
    }
    started = System.nanoTime();
    List<Thread> begun = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      begun.add(Thread.ofPlatform().daemon().start(this::ask));
    }
    begun.add(Thread.ofPlatform().daemon().start(this::post));
    threads = begun;
  }

  private void end() throws IOException {
    if (threads.isEmpty()) {
      return;
    }
    threads.forEach(Thread::interrupt);
    threads = List.of();
    nanos += System.nanoTime() - started;
    for (var socket : slow) {
      socket.close();
    }
    slow.clear();
  }

  /** One request after another, each at its time, on a new connection where the last was closed. */
  private void ask() {
    var request = "HEAD /board.js HTTP/1.1\r\n" + host + cookie + "\r\n";
    long next = System.nanoTime();
    while (!Thread.currentThread().isInterrupted()) {
      try (var socket = connect()) {
        socket.setTcpNoDelay(true);
        var answers = lines(socket);
        Thread.ofPlatform().daemon().start(() -> count(answers));
        while (!Thread.currentThread().isInterrupted()) {
          send(socket, request);
          offered.incrementAndGet();
          next += REQUEST_NANOS;
          LockSupport.parkNanos(next - System.nanoTime());
        }
      } catch (IOException closed) {
        // by the board: again
      }
    }
  }

  private void count(BufferedReader answers) {
    try {
      for (var line = answers.readLine(); line != null; line = answers.readLine()) {
        if (line.isEmpty()) {
          answered.incrementAndGet();
        }
      }
    } catch (IOException ended) {
      // the load is over
    }
  }

  private void post() {
    try (var socket = connect()) {
      send(socket, "POST /api/session HTTP/1.1\r\n" + host + "Content-Length: 52428800\r\n\r\n");
      for (int i = 0; i < 50; i++) {
        socket.getOutputStream().write(new byte[1 << 20]);
      }
    } catch (IOException refused) {
      // as it should be
    }
  }

  @Override
  public void close() throws IOException {
    end();
  }
}
