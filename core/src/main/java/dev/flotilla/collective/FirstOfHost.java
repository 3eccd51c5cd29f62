package dev.flotilla.collective;

import dev.flotilla.world.World;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Lets one rank of each host do something before the others of that host do it too: the first one
 * fetches data, for example, and the others find them.
 *
 * <p>All ranks leave together, so that a slow one does not eat up the time of the collective that
 * follows. What goes wrong on one rank reaches the others as a message.
 */
public final class FirstOfHost {

  /** How long a rank that fails stays, so that the others can read why; it may serve the store. */
  private static final Duration GRACE = Duration.ofSeconds(1);

  private static final String FAILURE = "failure";
  private static final String DONE = "done";

  private final KeyValueStore store;
  private final World world;
  private final Duration timeout;

  private FirstOfHost(KeyValueStore store, World world, Duration timeout) {
    this.store = store;
    this.world = world;
    this.timeout = timeout;
  }

  /**
   * What every rank does.
   *
   * @param <T> type of the result
   * @param <X> what it may throw
   */
  @FunctionalInterface
  public interface Action<T, X extends Exception> {

    /** Runs on the calling thread. */
    T run() throws X;
  }

  /**
   * Runs an action on every rank, on the first of each host before its others; all ranks call it
   * together.
   *
   * @param timeout the longest wait for the first one, and then for all
   * @throws X what the action has thrown on this rank
   * @throws CollectiveException if it has failed on another rank, or a rank was not done in time
   */
  public static <T, X extends Exception> T run(
      Collective group, World world, Duration timeout, Action<T, X> action) throws X {
    return group.size() == 1
        ? action.run()
        : new FirstOfHost(group.keyValueStore().section("first"), world, timeout).run(action);
  }

  private <T, X extends Exception> T run(Action<T, X> action) throws X {
    if (world.localRank() > 0) {
      await(
          () -> store.get(host()).isPresent(),
          () ->
              "the first rank of this host (local rank 0 of node %d)".formatted(world.nodeRank()));
    }
    T result = reporting(action);
    store.set(Arrival.key(world.rank()), DONE);
    if (world.localRank() == 0) {
      store.set(host(), DONE);
    }
    var all = new Arrival(store, world.size());
    await(all::look, () -> Arrival.name(all.missing()));
    return result;
  }

  private <T, X extends Exception> T reporting(Action<T, X> action) throws X {
    try {
      return action.run();
    } catch (Throwable failure) {
      store.set(FAILURE, "rank %d failed: %s".formatted(world.rank(), failure));
      store.set(Arrival.key(world.rank()), FAILURE);
      new Arrival(store, world.size()).await(GRACE);
      throw failure;
    }
  }

  private String host() {
    return "host/" + world.nodeRank();
  }

  private void await(BooleanSupplier isDone, Supplier<String> who) {
    var deadline = Deadline.in(timeout);
    while (true) {
      var failure = store.get(FAILURE);
      if (failure.isPresent()) {
        store.set(Arrival.key(world.rank()), FAILURE);
        throw new CollectiveException(
            failure.get() + "; the other ranks have waited for it, and stop too");
      }
      if (isDone.getAsBoolean()) {
        return;
      }
      if (deadline.hasPassed()) {
        throw new CollectiveException(
            "%s was not done within %s; see its log, or allow more time"
                .formatted(who.get(), Deadline.seconds(timeout)));
      }
      deadline.pause();
    }
  }
}
