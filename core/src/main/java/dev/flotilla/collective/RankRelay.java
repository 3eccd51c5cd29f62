package dev.flotilla.collective;

import dev.flotilla.control.JobLink;
import dev.flotilla.control.SharedValues;
import dev.flotilla.world.RankEnvironment;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Asks launchers to carry the connections of ranks on other hosts to the port of this one, where
 * the job is secure; ranks listen on loopback then, at the address that stands for their host.
 *
 * <p>From when all of them are ready until {@link #close}, each has the same address and port on
 * its own loopback, and carries whoever connects there through TLS.
 */
public final class RankRelay implements AutoCloseable {

  private static final AtomicInteger REQUESTS = new AtomicInteger();

  private final Optional<SharedValues> values;
  private final String id;
  private final List<String> others;
  private boolean isOpen;

  private RankRelay(Optional<SharedValues> values, String id, List<String> others) {
    this.values = values;
    this.id = id;
    this.others = others;
  }

  /** Returns what carries the connections of a group; nothing does within a host. */
  static RankRelay of(Roster roster) {
    return of(roster.self().rank(), roster.self().address(), roster.addresses());
  }

  /**
   * Returns what carries connections between ranks; nothing does within a host.
   *
   * @param own where this rank listens
   * @param addresses where all ranks do
   */
  public static RankRelay of(int rank, String own, Collection<String> addresses) {
    var others =
        addresses.stream().filter(address -> !address.equals(own)).distinct().sorted().toList();
    var values =
        ownAddress().isPresent() && !others.isEmpty()
            ? JobLink.ofThisProcess().values()
            : Optional.<SharedValues>empty();
    var id = "%s/%d.%d".formatted(own, rank, REQUESTS.incrementAndGet());
    return new RankRelay(values, id, others);
  }

  /** Returns the address that stands for this host, where the job is secure. */
  public static Optional<String> ownAddress() {
    return Optional.ofNullable(System.getenv(RankEnvironment.RELAY_ADDRESS));
  }

  /** Tells whether members of the group are on other hosts, and need to be carried. */
  public boolean isNeeded() {
    return values.isPresent();
  }

  /**
   * Waits until the launchers of all other hosts carry connections to a port of this rank.
   *
   * @throws RendezvousException if one cannot, or says nothing in time
   */
  public void open(int port, Duration limit) {
    var shared = values.orElseThrow();
    try {
      isOpen = true;
      put(shared, "relay/want/" + id, port + " " + String.join(",", others), limit);
      var deadline = Deadline.in(limit);
      for (var other : others) {
        await(shared, other, deadline);
      }
    } catch (IOException e) {
      throw new RendezvousException("the launchers carry no connections: " + e.getMessage(), e);
    }
  }

  private void await(SharedValues shared, String other, Deadline deadline) throws IOException {
    var answer = shared.get("relay/ready/" + id + "/" + other);
    while (answer.isEmpty()) {
      if (deadline.hasPassed()) {
        throw new RendezvousException(
            "the launcher of the host at %s does not carry connections to this rank; check that no"
                    .formatted(other)
                + " firewall is between the hosts, and that their launchers are connected");
      }
      deadline.pause();
      answer = shared.get("relay/ready/" + id + "/" + other);
    }
    var problem = new String(answer.get(), StandardCharsets.UTF_8);
    if (!problem.isEmpty()) {
      throw new RendezvousException("--secure: " + problem);
    }
  }

  /** Says that all ranks are connected, or will not be: nobody needs to listen any more. */
  @Override
  public void close() {
    if (!isOpen) {
      return;
    }
    isOpen = false;
    try {
      put(values.orElseThrow(), "relay/done/" + id, "", Duration.ofSeconds(5));
    } catch (IOException e) {
      // Launchers that are gone listen no more.
    }
  }

  private static void put(SharedValues shared, String key, String value, Duration limit)
      throws IOException {
    shared.put(key, value.getBytes(StandardCharsets.UTF_8), limit);
  }
}
