package dev.flotilla.app;

import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.strategy.shard.StageMemory;
import java.util.Locale;

/** Prints what a rank's state would take with each stage of sharding. */
final class MemoryText {

  private MemoryText() {}

  /** Returns a table with one row per stage; a star marks the recipe's own. */
  static String byStage(ConfiguredRun run) {
    boolean isKnown = run.config().optimizer().numbersPerParameter().isPresent();
    var memory = run.memory();
    var stages = memory.byStage();
    long frozen = memory.arenaBytes() - stages.getFirst().kept();
    var text = new StringBuilder();
    text.append(row("MB per rank", "parameters", "gradients", "optimizer", "in a step", "all"))
        .append("  sent, k micro-steps\n");
    for (var it : stages) {
      text.append(
              row(
                  (it.stage() == memory.stage() ? "* " : "  ") + name(it),
                  megabytes(it.parameters() + frozen),
                  megabytes(it.gradients()),
                  isKnown ? megabytes(it.optimizer()) : "?",
                  megabytes(it.passing()),
                  isKnown ? megabytes(it.total() + frozen) : "?"))
          .append("  %s%n".formatted(it.wire()));
    }
    if (memory.shardedParameters().isHalf()) {
      text.append(
          "stages have parameters in %s, and the float32 ones in slices%n"
              .formatted(memory.shardedParameters().word()));
    }
    return text.append("activations come on top; flotilla fit-batch measures them\n").toString();
  }

  private static String name(StageMemory memory) {
    return memory.stage() == 0 ? "plain" : "sharding, stage " + memory.stage();
  }

  private static String megabytes(long bytes) {
    return String.format(Locale.ROOT, "%,.2f", bytes / 1e6);
  }

  private static String row(String name, String... cells) {
    var text = new StringBuilder(String.format(Locale.ROOT, "%-19s", name));
    for (var cell : cells) {
      text.append(String.format(Locale.ROOT, "%12s", cell));
    }
    return text.toString();
  }
}
