package dev.flotilla.launch.tls;

import dev.flotilla.control.AcceptLimit;
import dev.flotilla.control.Hub;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Carries connections between the ranks of different hosts, as they ask for it through values of
 * the control channel.
 *
 * <p>A rank that listens on its host's {@linkplain Aliases alias} says so ({@code relay/want}). Its
 * launcher opens its door, and tells where that is ({@code relay/open}); every other launcher then
 * listens on the same address and port of its own loopback, and says that it does ({@code
 * relay/ready}). When all ranks are connected, the rank says that ({@code relay/done}), and nobody
 * listens any more. What is connected stays so.
 */
public final class Relays implements AutoCloseable {

  /** Time for a first word. */
  private static final Duration GREETING_TAKES = Duration.ofSeconds(5);

  private static final Duration CLOSING_TAKES = Duration.ofSeconds(2);

  private static final String CONTROL = "control";

  private final SecureChannel channel;
  private final Hub hub;
  private final InetAddress self;
  private final Tunnel.All tunnels = new Tunnel.All();
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          work -> Thread.ofPlatform().daemon().name("flotilla-relays").unstarted(work));
  private final Map<String, SocketAddress> targets = new ConcurrentHashMap<>();
  private final Forwarders forwarders;
  private final Set<String> known = new HashSet<>();
  private final List<Said> early = new ArrayList<>();
  private int attempt;
  private String master = "";
  private @Nullable OwnAddress own;
  private @Nullable Door door;
  private @Nullable Forwarder toFirst;

  /** Finds the address of this host that the other hosts reach. */
  public interface OwnAddress {

    /** Returns the address. */
    InetAddress find() throws IOException;
  }

  /** A value, and the attempt it belongs to. */
  private record Said(int attempt, List<String> key, String value) {}

  /**
   * Creates relays that nobody reaches yet.
   *
   * @param self the alias of this host
   */
  public Relays(SecureChannel channel, Hub hub, InetAddress self) {
    this.channel = channel;
    this.hub = hub;
    this.self = self;
    this.forwarders = new Forwarders(channel, tunnels, clock, hub);
    hub.watchValues(
        (ofAttempt, key, value) -> {
          if (key.startsWith("relay/")) {
            String text = new String(value, StandardCharsets.UTF_8);
            clock.execute(() -> take(new Said(ofAttempt, List.of(key.split("/", -1)), text)));
          }
        });
  }

  /**
   * Opens the door of the first host, for launchers and for connections of ranks.
   *
   * @param address where launchers call
   * @param hosts where the hub of this launcher waits for them
   * @param isHostMissing whether one of them is to come
   * @throws IOException if the port is taken
   */
  public void openFirst(
      InetSocketAddress address, SocketAddress hosts, BooleanSupplier isHostMissing)
      throws IOException {
    targets.put(CONTROL, hosts);
    door = open(address, isHostMissing);
  }

  /**
   * Carries connections of this launcher to the first host's.
   *
   * @param near where this launcher's hub calls
   * @param first name or address of the first host
   * @param address asked for when a rank of this host wants to be reached
   */
  public void follow(ServerSocketChannel near, String first, int port, OwnAddress address) {
    master = first;
    own = address;
    toFirst =
        Forwarder.start(
            near,
            new Caller(channel, tunnels, clock),
            new Caller.Destination(first, port, CONTROL, Optional.empty()),
            1,
            failure ->
                TlsTrouble.lasting(failure)
                    .map(why -> "no secure connection to the first host's launcher: " + why)
                    .ifPresent(hub::refuse));
  }

  private Door open(InetSocketAddress address, BooleanSupplier isHostMissing) throws IOException {
    return Door.open(
        address,
        AcceptLimit.of(() -> isHostMissing.getAsBoolean() || hasRankTargets()),
        channel,
        tunnels,
        clock,
        target -> Optional.ofNullable(targets.get(target)),
        hub::warn,
        GREETING_TAKES);
  }

  /** Ends what an earlier attempt has left. */
  public void begin(int next) {
    clock.execute(() -> reset(next));
  }

  private void reset(int next) {
    attempt = next;
    known.clear();
    forwarders.endAll();
    targets.keySet().removeIf(target -> !target.equals(CONTROL));
    closeDoor();
    List<Said> waiting = List.copyOf(early);
    early.clear();
    waiting.forEach(this::take);
  }

  /** That of the first host stays, for launchers. */
  private void closeDoor() {
    if (door != null && own != null) {
      door.close();
      door = null;
    }
  }

  /** Takes a value: relay, what, alias of the rank's host, number of the request. */
  private void take(Said said) {
    List<String> key = said.key();
    if (said.attempt() > attempt) {
      // Another host has begun before this one.
      early.add(said);
      return;
    }
    if (said.attempt() < attempt || key.size() < 4 || !known.add(String.join("/", key))) {
      return;
    }
    String alias = key.get(2);
    String id = alias + "/" + key.get(3);
    boolean isOwn = alias.equals(self.getHostAddress());
    switch (key.get(1)) {
      case "want" -> {
        if (isOwn) {
          admit(id, said.value());
        }
      }
      case "open" -> {
        if (!isOwn) {
          forward(alias, id, Offer.parse(said.value()));
        }
      }
      case "done" -> end(id);
      default -> {
        // What others are ready for is for ranks to know.
      }
    }
  }

  /** Lets others come to a port of a rank of this host: the port, and the hosts it concerns. */
  private void admit(String id, String request) {
    String[] fields = request.split(" ", -1);
    int port = Integer.parseInt(fields[0]);
    List<String> others = List.of(fields[1].split(",", -1));
    try {
      String host = own == null ? "" : own.find().getHostAddress();
      if (door == null) {
        door = open(new InetSocketAddress(InetAddress.ofLiteral(host), 0), () -> false);
      }
      targets.put(target(id), new InetSocketAddress(self, port));
      var offer =
          new Offer(host, door.port(), port, channel.fingerprint(), OwnNetwork.name(), others);
      hub.put(attempt, "relay/open/" + id, bytes(offer.format()));
    } catch (IOException e) {
      String problem = "no port for secure connections can be opened: " + e.getMessage();
      others.forEach(other -> ready(id, other, problem));
    }
  }

  private String target(String id) {
    return attempt + " " + id;
  }

  private void forward(String alias, String id, Offer offer) {
    String own = self.getHostAddress();
    if (!offer.others().contains(own)) {
      return;
    }
    if (offer.network().equals(OwnNetwork.name())) {
      ready(id, own, "");
      return;
    }
    try {
      String host = offer.host().isEmpty() ? master : offer.host();
      forwarders.listen(id, alias, offer, host, target(id));
      ready(id, own, "");
    } catch (IOException e) {
      ready(
          id,
          own,
          "%s:%d of this host, which stands for a rank of another host, cannot be used: %s"
              .formatted(alias, offer.port(), e.getMessage()));
    }
  }

  private void ready(String id, String host, String problem) {
    hub.put(attempt, "relay/ready/" + id + "/" + host, bytes(problem));
  }

  private void end(String id) {
    known.add("relay/open/" + id);
    known.add("relay/want/" + id);
    forwarders.end(id);
    if (targets.remove(target(id)) != null && !hasRankTargets()) {
      closeDoor();
    }
  }

  private boolean hasRankTargets() {
    return targets.keySet().stream().anyMatch(it -> !it.equals(CONTROL));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    clock.execute(
        () -> {
          early.clear();
          reset(attempt);
          if (door != null) {
            door.close();
          }
          if (toFirst != null) {
            toFirst.close();
          }
        });
    clock.shutdown();
    tunnels.close(CLOSING_TAKES);
  }
}
