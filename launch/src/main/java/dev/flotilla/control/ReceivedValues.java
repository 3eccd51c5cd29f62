package dev.flotilla.control;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** A rank's copy of the values; its channel fills it. */
final class ReceivedValues implements SharedValues {

  /** How long after a question the channel looks for frames more often. */
  private static final long BUSY_NANOS = Duration.ofMillis(500).toNanos();

  private record Unconfirmed(Frame.Value value, CompletableFuture<Boolean> isKept) {}

  private final Consumer<Frame> send;
  private final Map<String, byte[]> values = new ConcurrentHashMap<>();
  private final Queue<Unconfirmed> unconfirmed = new ConcurrentLinkedQueue<>();
  private final Map<Long, CompletableFuture<Boolean>> unanswered = new ConcurrentHashMap<>();
  private final AtomicLong questions = new AtomicLong();
  private final AtomicInteger meetings = new AtomicInteger();
  private volatile long lastUse = System.nanoTime() - BUSY_NANOS;
  private volatile boolean isLost;

  /** Creates an empty copy that sends what is put. */
  ReceivedValues(Consumer<Frame> send) {
    this.send = send;
  }

  @Override
  public int nextMeeting() {
    return meetings.incrementAndGet();
  }

  @Override
  public void put(String key, byte[] value, Duration longest) throws IOException {
    if (value.length > LONGEST_VALUE) {
      throw new IOException(
          "a value of %d bytes is too long for the control channel".formatted(value.length));
    }
    var put = new Frame.Put(key, ByteBuffer.wrap(value.clone()));
    var waiting =
        new Unconfirmed(new Frame.Value(key, put.value()), new CompletableFuture<Boolean>());
    unconfirmed.add(waiting);
    try {
      await(put, waiting.isKept, longest);
    } finally {
      unconfirmed.remove(waiting);
    }
  }

  @Override
  public void sync(Duration longest) throws IOException {
    long number = questions.incrementAndGet();
    var answer = new CompletableFuture<Boolean>();
    unanswered.put(number, answer);
    try {
      await(new Frame.Sync(number), answer, longest);
    } finally {
      unanswered.remove(number);
    }
  }

  private void await(Frame question, CompletableFuture<Boolean> answer, Duration longest)
      throws IOException {
    used();
    send.accept(question);
    try {
      boolean _ = answer.get(longest.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new IOException(
          "the first host's launcher did not answer within %d s".formatted(longest.toSeconds()));
    } catch (ExecutionException e) {
      throw lost();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for the first host's launcher", e);
    }
  }

  private void used() throws IOException {
    lastUse = System.nanoTime();
    if (isLost) {
      throw lost();
    }
  }

  private static IOException lost() {
    return new IOException("the connection to the launcher is lost");
  }

  @Override
  public Optional<byte[]> get(String key) throws IOException {
    used();
    return Optional.ofNullable(values.get(key)).map(byte[]::clone);
  }

  @Override
  public Map<String, byte[]> all(String prefix) throws IOException {
    used();
    var found = new TreeMap<String, byte[]>();
    values.forEach(
        (key, value) -> {
          if (key.startsWith(prefix)) {
            found.put(key, value.clone());
          }
        });
    return found;
  }

  /** Takes what the first host's launcher keeps. */
  void take(Frame.Value value) {
    var bytes = new byte[value.value().remaining()];
    value.value().duplicate().get(bytes);
    values.put(value.key(), bytes);
    unconfirmed.stream()
        .filter(waiting -> waiting.value.equals(value))
        .forEach(waiting -> waiting.isKept.complete(true));
  }

  /** Takes the answer that everything has come. */
  void take(Frame.Synced answer) {
    CompletableFuture<Boolean> waiting = unanswered.get(answer.number());
    if (waiting != null) {
      waiting.complete(true);
    }
  }

  /** Tells whether a rank waits for values just now. */
  boolean isBusy() {
    return !unconfirmed.isEmpty()
        || !unanswered.isEmpty()
        || System.nanoTime() - lastUse < BUSY_NANOS;
  }

  /** Ends all waiting: the channel is gone. */
  void lose() {
    isLost = true;
    unconfirmed.forEach(waiting -> waiting.isKept.completeExceptionally(lost()));
    unanswered.values().forEach(waiting -> waiting.completeExceptionally(lost()));
  }
}
