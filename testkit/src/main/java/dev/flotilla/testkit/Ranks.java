package dev.flotilla.testkit;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.CollectiveSettings;
import dev.flotilla.collective.Collectives;
import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Runs the ranks of a job as threads of this process, connected by Gloo over the loopback
 * interface.
 *
 * <p>The threads share the default random generator and libtorch's thread settings: nothing that
 * depends on either can be tested here. Each thread has its own native scopes.
 */
public final class Ranks {

  private final int size;
  private final Duration limit;
  private final CollectiveSettings settings;

  private Ranks(int size, Duration limit, CollectiveSettings settings) {
    if (size < 1) {
      throw new IllegalArgumentException("at least one rank is needed, but was " + size);
    }
    this.size = size;
    this.limit = limit;
    this.settings = settings;
  }

  /**
   * Prepares some ranks that have three minutes for all and one for each wait: what ends within
   * seconds must not fail where other work has the processors meanwhile.
   */
  public static Ranks of(int size) {
    var wait = Duration.ofMinutes(1);
    var settings = CollectiveSettings.defaults().withTimeout(wait).withJoinTimeout(wait);
    return new Ranks(size, Duration.ofMinutes(3), settings);
  }

  /** Runs a body on each of some ranks. */
  public static void run(int size, RankBody body) {
    of(size).run(body);
  }

  /** Runs a task on each of some ranks and returns the results in rank order. */
  public static <T> List<T> call(int size, RankTask<T> task) {
    return of(size).call(task);
  }

  /** Returns the same ranks with another limit for all of them. */
  public Ranks within(Duration otherLimit) {
    return new Ranks(size, otherLimit, settings);
  }

  /** Returns the same ranks with other settings of their collectives. */
  public Ranks with(CollectiveSettings otherSettings) {
    return new Ranks(size, limit, otherSettings);
  }

  /** Runs a body on each rank. */
  public void run(RankBody body) {
    call(
        collective -> {
          body.run(collective);
          return collective.rank();
        });
  }

  /** Runs a task on each rank and returns the results in rank order. */
  public <T> List<T> call(RankTask<T> task) {
    return callWorlds(
        world -> {
          try (var collective = Collectives.join(world, settings)) {
            return task.call(collective);
          }
        });
  }

  /** Runs a task with the world of each rank, which joins by itself or not at all. */
  public <T> List<T> callWorlds(WorldTask<T> task) {
    try (var folder = TemporaryFolder.create("ranks")) {
      var file = folder.path().resolve("rendezvous");
      return new RankThreads<T>(size, limit).run(rank -> task.call(world(rank, file)));
    }
  }

  private World world(int rank, Path file) {
    return size == 1
        ? World.solo()
        : new World(rank, size, rank, size, 0, 1, new Rendezvous.SharedFile(file));
  }

  /** What one rank does. */
  @FunctionalInterface
  public interface RankBody {

    /** Runs on the thread of one rank. */
    void run(Collective collective) throws Exception;
  }

  /**
   * What one rank computes.
   *
   * @param <T> type of the result
   */
  @FunctionalInterface
  public interface RankTask<T> {

    /** Runs on the thread of one rank. */
    T call(Collective collective) throws Exception;
  }

  /**
   * What one rank computes before it has joined the others.
   *
   * @param <T> type of the result
   */
  @FunctionalInterface
  public interface WorldTask<T> {

    /** Runs on the thread of one rank. */
    T call(World world) throws Exception;
  }
}
