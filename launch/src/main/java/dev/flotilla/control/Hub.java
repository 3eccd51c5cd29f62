package dev.flotilla.control;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.Channel;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * A launcher's end of the control channel: carries frames from and to whoever knows the key.
 *
 * <p>One thread does all input and output, so that a peer that sends nonsense, reads nothing or
 * falls silent holds up nobody. What the frames mean is for others to say; those about values are
 * taken by {@link ValueRelay}.
 */
public final class Hub implements AutoCloseable {

  private static final long TURN_MILLIS = 200;
  private static final Duration CLOSING_TAKES = Duration.ofSeconds(2);

  private static final Duration GREETING_TAKES = Duration.ofSeconds(5);

  private final Selector selector;
  private final Duration greetingTakes;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final BlockingQueue<HubEvent> events = new LinkedBlockingQueue<>();
  private final Map<Peer, Connection> peers = new HashMap<>();
  private final WaitingRoom strangers = new WaitingRoom();
  private final RefusedStrangers refused = new RefusedStrangers();
  private final ValueRelay values = new ValueRelay(this::sendNow);
  private final List<Listener> listeners = new ArrayList<>();
  private final Dialling dialling = new Dialling();
  private final Thread thread;
  private volatile int generation;
  private volatile int hosts;
  private boolean cannotAccept;
  private volatile boolean isClosed;

  private Hub(Selector selector, Duration greetingTakes) {
    this.selector = selector;
    this.greetingTakes = greetingTakes;
    this.thread = Thread.ofPlatform().daemon().name("flotilla-control").unstarted(this::run);
  }

  /** Opens a hub that nobody can reach yet. */
  public static Hub open() throws IOException {
    return open(GREETING_TAKES);
  }

  /**
   * Opens a hub.
   *
   * @param greetingTakes how long a stranger may take to say who it is
   */
  static Hub open(Duration greetingTakes) throws IOException {
    var hub = new Hub(Selector.open(), greetingTakes);
    hub.thread.start();
    return hub;
  }

  /** Lets ranks connect; the hub closes the channel. */
  public void listenForRanks(ServerSocketChannel server, JobKey key) {
    listen(server, key, false, Optional.empty());
  }

  /**
   * Lets the launchers of other hosts connect where no stranger can; the hub closes the channel.
   */
  public void listenForHosts(ServerSocketChannel server, JobKey key) {
    listen(server, key, true, Optional.empty());
  }

  /** Lets the launchers of other hosts connect; the hub closes the channel. */
  public void listenForHosts(ServerSocketChannel server, JobKey key, AcceptLimit limit) {
    listen(server, key, true, Optional.of(limit));
  }

  /** Tells whether the launchers of so many other hosts are connected; for any thread. */
  public boolean hasHosts(int count) {
    return hosts >= count;
  }

  private void listen(
      ServerSocketChannel server, JobKey key, boolean forHosts, Optional<AcceptLimit> limit) {
    Supplier<Connection.Greeter> greeters =
        () -> new ServerGreeter(key, forHosts, () -> generation, this::isTaken);
    submit(
        () -> {
          try {
            listeners.add(Listener.open(server, selector, greeters, limit));
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  /** Connects to the launcher of the first host, again and again until it answers. */
  public void dial(Dial dial) {
    values.follow();
    submit(() -> dialling.add(dial));
  }

  /**
   * Refuses ranks of any other attempt from now on, also those that are connected, and takes
   * nothing in the name of an earlier one.
   */
  public void expect(int attempt) {
    generation = attempt;
    submit(
        () -> {
          values.forgetBefore(attempt);
          List.copyOf(peers.values()).stream().filter(this::isOutdated).forEach(this::drop);
        });
  }

  private boolean isOutdated(Connection connection) {
    return connection
        .other()
        .filter(other -> !other.isHost() && other.generation() != generation)
        .isPresent();
  }

  /** Calls somebody, on the hub's thread, with each value that comes from now on. */
  public void watchValues(ValueWatcher watcher) {
    values.watch(watcher);
  }

  /** Leaves a value for everybody, as a rank would. */
  public void put(int attempt, String key, byte[] value) {
    var put = new Frame.Put(key, ByteBuffer.wrap(value.clone()));
    submit(() -> values.put(attempt, put, generation));
  }

  /** Adds something that people should know to the events. */
  public void warn(String message) {
    events.add(new HubEvent.Warning(message));
  }

  /** Adds to the events that this launcher cannot take part in the job. */
  public void refuse(String reason) {
    events.add(new HubEvent.Refused(reason));
  }

  /** Returns the next event, if one comes in time. */
  public Optional<HubEvent> poll(Duration longest) throws InterruptedException {
    return Optional.ofNullable(events.poll(longest.toNanos(), TimeUnit.NANOSECONDS));
  }

  /** Sends a frame to one peer, if it is connected. */
  public void send(Peer to, Frame frame) {
    sendTo(to::equals, frame);
  }

  /** Sends a frame to all connected ranks. */
  public void sendToRanks(Frame frame) {
    sendTo(Peer.Rank.class::isInstance, frame);
  }

  /** Sends a frame to the launchers of all other hosts. */
  public void sendToHosts(Frame frame) {
    sendTo(Peer.Host.class::isInstance, frame);
  }

  private void sendTo(Predicate<Peer> whom, Frame frame) {
    int attempt = generation;
    submit(() -> sendNow(whom, frame, attempt));
  }

  private void sendNow(Predicate<Peer> whom, Frame frame, int attempt) {
    List.copyOf(peers.entrySet()).stream()
        .filter(entry -> whom.test(entry.getKey()))
        .forEach(entry -> sendNow(entry.getValue(), frame, attempt));
  }

  private void sendNow(Connection connection, Frame frame, int attempt) {
    try {
      connection.send(frame, attempt);
    } catch (IOException | CancelledKeyException e) {
      drop(connection);
    }
  }

  private void submit(Runnable task) {
    tasks.add(task);
    selector.wakeup();
  }

  private void run() {
    try {
      while (!isClosed) {
        selector.select(this::ready, turnMillis());
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
          task.run();
        }
        dropLateStrangers();
        listeners.forEach(Listener::resume);
        dialling.turn(this::take, this::warn);
      }
    } catch (IOException | UncheckedIOException | ClosedSelectorException e) {
      events.add(new HubEvent.Warning("the control channel is lost: " + e));
    }
  }

  private long turnMillis() {
    return listeners.stream()
        .mapToLong(it -> it.resumesInMillis(TURN_MILLIS))
        .min()
        .orElse(TURN_MILLIS);
  }

  private void ready(SelectionKey key) {
    if (key.attachment() instanceof Connection connection) {
      serve(key, connection);
    } else if (key.isValid() && key.attachment() instanceof Listener listener) {
      accept(listener);
    }
  }

  private void accept(Listener listener) {
    try {
      listener.accept(this::take);
    } catch (IOException e) {
      if (!cannotAccept) {
        events.add(new HubEvent.Warning("a connection could not be accepted: " + e.getMessage()));
      }
      cannotAccept = true;
    }
  }

  private Optional<Connection> take(SocketChannel channel, Connection.Greeter greeter) {
    try {
      channel.configureBlocking(false);
      SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
      Connection connection = Connection.open(channel, key, greeter, greetingTakes);
      key.attach(connection);
      var evicted = new ArrayList<Connection>();
      boolean isIn = strangers.add(connection, evicted);
      evicted.forEach(this::drop);
      if (!isIn) {
        connection.close();
      }
      return isIn ? Optional.of(connection) : Optional.empty();
    } catch (IOException e) {
      closeQuietly(channel);
      return Optional.empty();
    }
  }

  private void serve(SelectionKey key, Connection connection) {
    try {
      if (key.isValid() && key.isWritable()) {
        connection.flush();
      }
      connection.receive((frame, attempt) -> handle(connection, frame, attempt));
    } catch (RefusedException e) {
      events.add(
          new HubEvent.Refused("the first host's launcher refuses this one: " + e.getMessage()));
      dialling.answered(connection);
      drop(connection);
    } catch (FrameException e) {
      refused.name(connection, e).map(HubEvent.Warning::new).ifPresent(events::add);
      drop(connection);
    } catch (IOException | CancelledKeyException e) {
      drop(connection);
    }
  }

  private void handle(Connection connection, Frame frame, int attempt) throws IOException {
    Optional<Identity> other = connection.other();
    if (other.isPresent()) {
      var taken = inTime(other.get(), frame, attempt);
      if (!values.take(other.get(), taken, attempt, generation)) {
        events.add(new HubEvent.Came(other.get().peer(), taken));
      }
    } else if (connection.greet(frame)) {
      admit(connection);
    }
  }

  /** What another host says of an earlier attempt shows that it lives, and nothing else. */
  private Frame inTime(Identity from, Frame frame, int attempt) throws FrameException {
    if (!from.isHost() && attempt != from.generation()) {
      throw new FrameException("a rank speaks in the name of another attempt");
    }
    return attempt < generation ? new Frame.Beat() : frame;
  }

  private void admit(Connection connection) {
    Peer peer = connection.peer().orElseThrow();
    Connection before = peers.get(peer);
    if (before != null) {
      drop(before);
    }
    peers.put(peer, connection);
    countHosts();
    connection.from().ifPresent(from -> listeners.forEach(it -> it.trust(from)));
    strangers.remove(connection);
    dialling.answered(connection);
    events.add(new HubEvent.Joined(peer));
    connection.other().ifPresent(values::catchUp);
  }

  /** A launcher that has lost its connection may be back before this end knows that it is lost. */
  private boolean isTaken(Identity newcomer) {
    Optional<Identity> there =
        Optional.ofNullable(peers.get(newcomer.peer())).flatMap(Connection::other);
    return there.isPresent() && !(newcomer.isHost() && there.get().equals(newcomer));
  }

  private void drop(Connection connection) {
    try {
      connection.close();
    } catch (IOException e) {
      // It is of no use any more either way.
    }
    strangers.remove(connection);
    dialling.lost(connection);
    connection.peer().filter(peer -> peers.remove(peer, connection)).ifPresent(this::leave);
  }

  private void leave(Peer peer) {
    countHosts();
    events.add(new HubEvent.Left(peer));
  }

  private void countHosts() {
    hosts = (int) peers.keySet().stream().filter(Peer.Host.class::isInstance).count();
  }

  private void dropLateStrangers() {
    strangers.late().forEach(this::drop);
  }

  /** Closes every connection and everything that was listened on. */
  @Override
  public void close() {
    submit(() -> isClosed = true);
    try {
      thread.join(CLOSING_TAKES);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    for (SelectionKey key : List.copyOf(selector.keys())) {
      closeQuietly(key.channel());
    }
    try {
      dialling.close();
      selector.close();
    } catch (IOException e) {
      // Nothing is left that could be lost.
    }
  }

  private static void closeQuietly(Channel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      // Nothing is left that could be lost.
    }
  }
}
