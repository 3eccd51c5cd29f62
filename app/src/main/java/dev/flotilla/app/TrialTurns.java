package dev.flotilla.app;

import dev.flotilla.config.StepTrial;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

/**
 * Lets two groups of processes have the machine in turn, stretch by stretch: the speed of a shared
 * machine moves by a third within minutes, and what is compared meets it alike.
 *
 * <p>All map one small file. A turn passes to the other group once all processes of a group have
 * had their stretch; those of one group have equally many.
 */
final class TrialTurns implements StepTrial.Turn, AutoCloseable {

  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

  // Places of numbers in the file: how many turns are over, who has had this one, who has ended.
  private static final long TURNS = 0;
  private static final long HAD_IT = 4;
  private static final long ENDED = 8;
  private static final long GROUP_IS_OVER = 16;
  private static final long BYTES = 24;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment shared;
  private final int group;
  private final int processes;
  private final Duration longest;
  private int next;

  /**
   * Joins a group.
   *
   * @param file that all map; new for each comparison
   * @param group 0, which begins, or 1
   * @param processes of this group
   * @param longest that the other group may take for a turn
   */
  TrialTurns(Path file, int group, int processes, Duration longest) {
    this.group = group;
    this.processes = processes;
    this.longest = longest;
    this.next = group;
    try (var channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      shared = channel.map(MapMode.READ_WRITE, 0, BYTES, arena);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public void begin() {
    long start = System.nanoTime();
    while (get(TURNS) != next && get(GROUP_IS_OVER + 4L * (1 - group)) == 0) {
      if (System.nanoTime() - start > longest.toNanos()) {
        throw new IllegalStateException(
            "the other side of a comparison has kept its turn for " + longest);
      }
      sleep();
    }
  }

  @Override
  public void end() {
    if (add(HAD_IT) == processes) {
      INT.setVolatile(shared, HAD_IT, 0);
      INT.setVolatile(shared, TURNS, next + 1);
    }
    next += 2;
  }

  /** Leaves the machine to the other group once all of this one have left. */
  @Override
  public void close() {
    if (add(ENDED + 4L * group) == processes) {
      INT.setVolatile(shared, GROUP_IS_OVER + 4L * group, 1);
    }
    arena.close();
  }

  private int get(long place) {
    return (int) INT.getVolatile(shared, place);
  }

  private int add(long place) {
    return (int) INT.getAndAdd(shared, place, 1) + 1;
  }

  private static void sleep() {
    try {
      Thread.sleep(1);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while another side had its turn", stopped);
    }
  }
}
