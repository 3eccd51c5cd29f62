package dev.flotilla.control;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * How much work those who connect to a port can make.
 *
 * <p>A connection makes work before anything is known of who made it. So not more than {@value
 * #EXPECTING} a second are heard while members are to come, and {@value #COMPLETE} once all are
 * connected, for one that has lost its connection before the other end knows; of one address a
 * quarter. The others are closed at once, which costs a tenth; once all are connected, most wait in
 * the kernel, which drops what finds no room there. Addresses of members are not limited. One
 * thread accepts.
 */
public final class AcceptLimit {

  /** So many connections wait in the kernel. */
  public static final int BACKLOG = 256;

  static final int EXPECTING = 400;
  static final int COMPLETE = 4;

  /** What waits for so long is accepted together, which is less work than one by one. */
  private static final Duration SHORT = Duration.ofMillis(20);

  private static final Duration LONG = Duration.ofMillis(100);

  /** So many are heard at once, after a time with none. */
  private static final int BURST = 128;

  private static final int BURST_WHEN_COMPLETE = 16;
  private static final int PARTS = 4;
  private static final int MANY = 8;
  private static final int AT_ONCE_WHEN_COMPLETE = 10;
  private static final int MOST_ADDRESSES = 1024;

  private final BooleanSupplier isSomebodyExpected;
  private final LongSupplier clock;
  private final Set<InetAddress> members = ConcurrentHashMap.newKeySet();
  private final Bucket all;
  private final Map<InetAddress, Bucket> addresses =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<InetAddress, Bucket> eldest) {
          return size() > MOST_ADDRESSES;
        }
      };

  AcceptLimit(BooleanSupplier isSomebodyExpected, LongSupplier clock) {
    this.isSomebodyExpected = isSomebodyExpected;
    this.clock = clock;
    this.all = new Bucket();
  }

  /**
   * Creates the limit of a port.
   *
   * @param isSomebodyExpected whether members are to come; for any thread
   */
  public static AcceptLimit of(BooleanSupplier isSomebodyExpected) {
    return new AcceptLimit(isSomebodyExpected, System::nanoTime);
  }

  /** Notes that a member is at an address; for any thread. */
  public void trust(InetAddress member) {
    members.add(member);
  }

  /**
   * Accepts those who wait at a port that does not block; returns for how long to accept nobody
   * then.
   *
   * @param heard takes the connections that are heard
   */
  public Duration accept(ServerSocketChannel server, Consumer<SocketChannel> heard)
      throws IOException {
    boolean isComplete = !isSomebodyExpected.getAsBoolean();
    int most = isComplete ? AT_ONCE_WHEN_COMPLETE : BACKLOG;
    int count = 0;
    while (count < most) {
      SocketChannel next = server.accept();
      if (next == null) {
        break;
      }
      count++;
      if (isHeard(next)) {
        heard.accept(next);
      } else {
        reset(next);
      }
    }
    if (isComplete && count > 0) {
      return LONG;
    }
    return count >= MANY ? SHORT : Duration.ZERO;
  }

  /** What is closed in another way stays in the kernel's tables for a minute. */
  private static void reset(SocketChannel channel) throws IOException {
    channel.setOption(StandardSocketOptions.SO_LINGER, 0);
    channel.close();
  }

  private boolean isHeard(SocketChannel channel) throws IOException {
    return !(channel.getRemoteAddress() instanceof InetSocketAddress from)
        || admits(from.getAddress());
  }

  boolean admits(InetAddress from) {
    if (members.contains(from)) {
      return true;
    }
    boolean isExpecting = isSomebodyExpected.getAsBoolean();
    int rate = isExpecting ? EXPECTING : COMPLETE;
    int burst = isExpecting ? BURST : BURST_WHEN_COMPLETE;
    Bucket own = addresses.computeIfAbsent(from, _ -> new Bucket());
    return own.take(rate / PARTS, burst / PARTS) && all.take(rate, burst);
  }

  /** Fills by a rate, up to a size; each connection takes one. */
  private final class Bucket {

    private double free = BURST;
    private long last = clock.getAsLong();

    boolean take(int perSecond, int size) {
      long now = clock.getAsLong();
      free = Math.min(size, free + (now - last) / 1e9 * perSecond);
      last = now;
      boolean isThere = free >= 1;
      free -= isThere ? 1 : 0;
      return isThere;
    }
  }
}
