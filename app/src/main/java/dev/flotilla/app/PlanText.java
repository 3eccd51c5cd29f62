package dev.flotilla.app;

import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.RunConfig;
import dev.flotilla.config.RunLength;
import dev.flotilla.memory.CpuThreads;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.step.Phase;
import dev.flotilla.strategy.StepPlanner;
import dev.flotilla.world.World;
import java.util.Locale;
import java.util.Map;

/** Prints a resolved configuration and the plan that will be applied. */
final class PlanText {

  private static final int WIDTH = 78;

  private PlanText() {}

  /** Returns the overview table: what is applied in each phase, not what was asked for. */
  static String overview(ConfiguredRun run, StepPlanner.Plan plan, World world) {
    var config = run.config();
    var text = new StringBuilder();
    text.append(border('='));
    text.append(centred("Strategy Overview"));
    text.append(border('='));
    text.append(row("model", model(config)));
    text.append(row("data", data(config)));
    text.append(row("optimizer", part(config, "optimizer")));
    text.append(row("schedule", part(config, "schedule")));
    text.append(row("updates", updates(config, run.length(plan))));
    text.append(row("memory", memory(run)));
    text.append(row("ranks", Integer.toString(world.size())));
    text.append(row("threads", threads(config, world)));
    text.append(border('-'));
    for (var phase : Phase.values()) {
      text.append(row(phase.name(), plan.step().describe(phase)));
    }
    text.append(border('='));
    return text.toString();
  }

  /** Returns the plan's warnings, one per line; a run notes them by itself. */
  static String warnings(StepPlanner.Plan plan) {
    var text = new StringBuilder();
    plan.warnings().forEach(issue -> text.append("warning: ").append(issue).append('\n'));
    return text.toString();
  }

  /** Returns every resolved setting, one per line. */
  static String settings(RunConfig config) {
    var text = new StringBuilder();
    text.append("-----------  Configuration -----------\n");
    append(text, "", config.shown());
    text.append("-".repeat(48)).append('\n');
    return text.toString();
  }

  private static void append(StringBuilder text, String prefix, Map<?, ?> values) {
    values.forEach(
        (key, value) -> {
          if (value instanceof Map<?, ?> nested) {
            append(text, prefix + key + ".", nested);
          } else {
            text.append(prefix).append(key).append(": ").append(value).append('\n');
          }
        });
  }

  private static String model(RunConfig config) {
    var layout = BoundModel.layoutOf(config.model(), config.precision(), _ -> false);
    return String.format(
        Locale.ROOT,
        "%s, %,d parameters, %,.2f MB %s",
        config.model().name(),
        config.model().parameterCount(),
        layout.bytes() / 1e6,
        config.precision().name().toLowerCase(Locale.ROOT));
  }

  private static String updates(RunConfig config, RunLength length) {
    var epochs = config.epochs();
    String stated =
        epochs == null ? "max_steps" : epochs == 1 ? "1 epoch" : "%,d epochs".formatted(epochs);
    var updates = length.updates();
    return updates.isPresent()
        ? String.format(Locale.ROOT, "%,d (%s)", updates.getAsLong(), stated)
        : "those of " + stated + ", counted when the data is read";
  }

  private static String memory(ConfiguredRun run) {
    boolean isWhole = run.config().optimizer().numbersPerParameter().isPresent();
    return String.format(
        Locale.ROOT,
        "%,.2f MB per rank for parameters%s; activations on top",
        run.memory().stateBytes() / 1e6,
        kept(run.config().ema() == null, isWhole));
  }

  private static String kept(boolean isWithoutAverage, boolean isWhole) {
    if (isWithoutAverage) {
      return isWhole ? ", gradients and optimizer" : " and gradients; the optimizer's";
    }
    return isWhole ? ", gradients, optimizer and ema" : ", gradients and ema; the optimizer's";
  }

  private static String threads(RunConfig config, World world) {
    int cores = CpuThreads.coresHere();
    int threads = config.threadsOn(world, System.getenv(), cores);
    return new CpuThreads(threads, world.localSize(), cores).describe(System.getenv());
  }

  private static String data(RunConfig config) {
    var batch = config.batch();
    return part(config, "data")
        + ", "
        + (batch == null ? "global batch " + config.globalBatch() : "batch " + batch + " per rank");
  }

  /** Returns a part of the recipe by its name there, with its settings. */
  private static String part(RunConfig config, String key) {
    var text = new StringBuilder();
    if (config.resolved().get(key) instanceof Map<?, ?> settings) {
      text.append(settings.get("name"));
      settings.forEach(
          (setting, value) -> {
            if (!setting.equals("name")) {
              text.append(' ').append(setting).append('=').append(value);
            }
          });
    }
    return text.toString();
  }

  private static String border(char line) {
    return "    +" + String.valueOf(line).repeat(WIDTH) + "+\n";
  }

  private static String centred(String title) {
    int left = (WIDTH - title.length()) / 2;
    int right = WIDTH - title.length() - left;
    return "    |" + " ".repeat(left) + title + " ".repeat(right) + "|\n";
  }

  /** Returns a row; what does not fit goes on below, broken at a blank where there is one. */
  private static String row(String key, String value) {
    int room = WIDTH - 16;
    if (value.length() <= room) {
      return String.format(Locale.ROOT, "    |%14s  %-" + room + "s|%n", key, value);
    }
    int blank = value.lastIndexOf(' ', room);
    int end = blank > 0 ? blank : room;
    return row(key, value.substring(0, end)) + row("", value.substring(end).strip());
  }
}
