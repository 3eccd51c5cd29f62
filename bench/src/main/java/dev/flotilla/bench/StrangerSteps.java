package dev.flotilla.bench;

import dev.flotilla.launch.LaunchFlags;
import dev.flotilla.launch.LaunchOutput;
import dev.flotilla.launch.Launcher;
import dev.flotilla.launch.RankCommand;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.LeNet5;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * The job that a stranger disturbs: a launcher, {@code FILE OPTION…}, whose ranks train LeNet-5 for
 * a quarter of an hour, unless they are killed, and note in a file when each step has ended.
 */
public final class StrangerSteps {

  private static final int MOST = 1 << 20;
  private static final Duration LONGEST = Duration.ofMinutes(15);

  private StrangerSteps() {}

  /** Launches. */
  public static void main(String[] args) {
    var flags = LaunchFlags.ofThisHost(List.of()).parse(List.of(args).subList(1, args.length));
    var command =
        new RankCommand(
            RankCommand.currentJava(),
            List.of("-XX:+UseSerialGC", "-Xmx512m"),
            System.getProperty("java.class.path"),
            Rank.class.getName(),
            List.of(args[0]));
    var output = new LaunchOutput(System.out, System.err, OptionalInt.empty()).withoutTables();
    System.exit(
        new Launcher(output, System.getenv()).run(flags.settings(), command, () -> {}).exitCode());
  }

  /** Opens the file of times: how many there are, then each. */
  static LongBuffer times(Path file) throws IOException {
    try (var channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return channel
          .map(FileChannel.MapMode.READ_WRITE, 0, 8L * MOST)
          .order(ByteOrder.nativeOrder())
          .asLongBuffer();
    }
  }

  /** One rank. */
  public static final class Rank {

    private Rank() {}

    /** Trains. */
    public static void main(String[] args) throws IOException {
      var world = World.join();
      LongBuffer times = times(Path.of(args[0] + "." + world.rank()));
      try (var _ = TensorScope.open();
          var trainer =
              Trainer.on(world)
                  .model(new LeNet5(10))
                  .optimizer(new Momentum(0.01, 0.9))
                  .threads(1)
                  .build()) {
        var batch = new Digits().train().load(IntStream.range(0, 32).toArray());
        long start = System.nanoTime();
        for (int i = 1; i < MOST && System.nanoTime() - start < LONGEST.toNanos(); i++) {
          trainer.step(batch);
          times.put(i, System.nanoTime());
          times.put(0, i);
        }
      }
    }
  }
}
