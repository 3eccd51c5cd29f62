package dev.flotilla.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Somebody without the job's key, in a process of his own. It obeys a line each: {@code to
 * HOST:PORT…} names the ports, {@code flood} holds 1,000 silent connections and 100 that say a byte
 * a second and makes 5,000 more a second, {@code tries} makes 100 tries a second to be let in,
 * {@code off} ends either; each is answered with what was done so far.
 */
final class StrangerAttack {

  static final int CONNECTS_PER_SECOND = 5000;
  static final int TRIES_PER_SECOND = 100;
  private static final int SILENT = 1000;
  private static final int SLOW = 100;
  private static final int IN_FLIGHT = 500;
  private static final int PATIENCE_MILLIS = 300;

  /** Begins like a greeting, both of TLS and as a length of the launchers' own. */
  private static final byte[] GREETING = {22, 3, 1, 2, 0, 1, 0, 1, (byte) 0xfc, 3, 3};

  private final AtomicLong made = new AtomicLong();
  private final AtomicLong answered = new AtomicLong();
  private final Random random = new Random(27);
  private volatile List<InetSocketAddress> targets = List.of();
  private List<Thread> threads = List.of();
  private long started;
  private long nanos;

  private StrangerAttack() {}

  /** Obeys until its orders end. */
  public static void main(String[] args) throws Exception {
    var attack = new StrangerAttack();
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (var line = lines.readLine(); line != null; line = lines.readLine()) {
      System.out.println(attack.obey(line));
    }
    System.exit(0);
  }

  private String obey(String order) throws InterruptedException {
    switch (order.split(" ", 2)[0]) {
      case "to" ->
          targets = Arrays.stream(order.split(" ", -1)).skip(1).map(this::address).toList();
      case "flood" -> begin(this::connectOften, this::holdSilent, this::holdSlow);
      case "tries" -> begin(this::tryOften);
      case "off" -> end();
      default -> {}
    }
    double seconds = Math.max(1e-9, nanos / 1e9);
    return String.format(Locale.ROOT, "%.0f %.0f", made.get() / seconds, answered.get() / seconds);
  }

  private InetSocketAddress address(String text) {
    int colon = text.lastIndexOf(':');
    return new InetSocketAddress(
        text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
  }

  private void begin(Runnable... works) {
    started = System.nanoTime();
    threads = Arrays.stream(works).map(it -> Thread.ofPlatform().daemon().start(it)).toList();
  }

  private void end() throws InterruptedException {
    for (var thread : threads) {
      thread.interrupt();
      thread.join(2000);
    }
    nanos += threads.isEmpty() ? 0 : System.nanoTime() - started;
    threads = List.of();
  }

  /** Connects at its times, whether anybody has accepted the last or not. */
  private void connectOften() {
    var open = new ArrayDeque<SocketChannel>();
    long next = System.nanoTime();
    while (!Thread.interrupted()) {
      for (var target : targets) {
        open.add(connect(target));
        made.incrementAndGet();
        next += 1_000_000_000L / CONNECTS_PER_SECOND;
        if (open.size() > IN_FLIGHT) {
          leave(open.remove());
        }
      }
      LockSupport.parkNanos(Math.max(targets.isEmpty() ? 1_000_000 : 0, next - System.nanoTime()));
      next = targets.isEmpty() ? System.nanoTime() : next;
    }
    open.forEach(this::leave);
  }

  private void leave(SocketChannel channel) {
    if (hasConnected(channel)) {
      answered.incrementAndGet();
    }
    close(channel);
  }

  private static SocketChannel connect(InetSocketAddress target) {
    try {
      var channel = SocketChannel.open();
      try {
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        channel.configureBlocking(false);
        boolean _ = channel.connect(target);
      } catch (IOException e) {
        channel.close();
      }
      return channel;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean hasConnected(SocketChannel channel) {
    try {
      return channel.isOpen() && channel.finishConnect();
    } catch (IOException e) {
      return false;
    }
  }

  private static void close(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      // It is gone either way.
    }
  }

  private void holdSilent() {
    hold(SILENT, (_, _) -> {});
  }

  private void holdSlow() {
    hold(
        SLOW,
        (channel, turn) ->
            channel.write(ByteBuffer.wrap(GREETING, Math.min(turn, GREETING.length - 1), 1)));
  }

  private interface Word {
    void say(SocketChannel channel, int turn) throws IOException;
  }

  /** Keeps so many connections to each port, and makes those anew that were closed. */
  private void hold(int count, Word word) {
    List<List<@Nullable SocketChannel>> held = new ArrayList<>();
    var turns = new int[count];
    while (!Thread.currentThread().isInterrupted()) {
      var now = targets;
      while (held.size() < now.size()) {
        held.add(new ArrayList<>(Collections.nCopies(count, null)));
      }
      for (int target = 0; target < now.size(); target++) {
        var channels = held.get(target);
        for (int i = 0; i < count; i++) {
          var channel = channels.get(i);
          if (channel == null || !isHeld(channel, word, turns[i]++)) {
            if (channel != null) {
              close(channel);
            }
            channels.set(i, connect(now.get(target)));
            turns[i] = 0;
          }
        }
      }
      LockSupport.parkNanos(1_000_000_000L);
    }
    for (var channels : held) {
      for (var channel : channels) {
        if (channel != null) {
          close(channel);
        }
      }
    }
  }

  private static boolean isHeld(SocketChannel channel, Word word, int turn) {
    try {
      if (!channel.isOpen() || !channel.finishConnect()) {
        return channel.isOpen();
      }
      word.say(channel, turn);
      return channel.read(ByteBuffer.allocate(256)) >= 0;
    } catch (IOException e) {
      return false;
    }
  }

  private void tryOften() {
    long next = System.nanoTime();
    for (int i = 0; !Thread.interrupted(); i++) {
      next += 1_000_000_000L / TRIES_PER_SECOND;
      for (var target : targets) {
        made.incrementAndGet();
        int kind = i % 4;
        Thread.ofVirtual().start(() -> attempt(target, kind));
      }
      LockSupport.parkNanos(Math.max(0, next - System.nanoTime()));
    }
  }

  /** Greets by TLS without a certificate, says nonsense, a frame with a false proof, or nothing. */
  private void attempt(InetSocketAddress target, int kind) {
    try (var socket = new Socket()) {
      socket.connect(target, PATIENCE_MILLIS);
      socket.setSoTimeout(PATIENCE_MILLIS);
      if (kind == 0) {
        var factory = (SSLSocketFactory) SSLSocketFactory.getDefault();
        factory
            .createSocket(socket, "stranger", target.getPort(), false)
            .getOutputStream()
            .write(1);
      } else if (kind < 3) {
        socket.getOutputStream().write(kind == 1 ? noise(2000) : hello());
      }
      if (socket.getInputStream().read() >= 0) {
        answered.incrementAndGet();
      }
    } catch (IOException e) {
      // Turned away.
    }
  }

  private byte[] hello() {
    byte[] fields = noise(81);
    fields[0] = 1;
    return ByteBuffer.allocate(5 + fields.length)
        .putInt(1 + fields.length)
        .put((byte) 2)
        .put(fields)
        .array();
  }

  private byte[] noise(int length) {
    var noise = new byte[length];
    random.nextBytes(noise);
    return noise;
  }
}
