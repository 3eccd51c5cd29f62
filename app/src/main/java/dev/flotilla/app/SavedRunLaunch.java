package dev.flotilla.app;

import dev.flotilla.config.SavedRun;
import dev.flotilla.control.PrivateFiles;
import dev.flotilla.launch.AppOption;
import dev.flotilla.launch.LaunchFlags;
import dev.flotilla.launch.ParsedFlags;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;

/** Uses a saved model over ranks that it launches; everything is checked before they start. */
final class SavedRunLaunch implements Callable<Integer> {

  /** A command that ranks run together, and that leaves its result in a file. */
  interface Job {

    /** Returns the run, or one of its checkpoints. */
    Path folder();

    /** Refuses what is wrong, before any rank starts. */
    void check();

    /** Returns the arguments that have a rank do the same and leave the result in a file. */
    List<String> arguments(Path resultFile);

    /** Tells whether the result belongs on standard output, and nothing else does. */
    boolean printsResult();
  }

  /**
   * What a command launches.
   *
   * @param name the command
   * @param options its own options; any other is the launcher's
   * @param rankMain what a rank runs
   * @param parse reads arguments that are the command's own
   */
  record Kind(
      String name,
      List<AppOption> options,
      Class<?> rankMain,
      Function<List<String>, ? extends Job> parse) {

    static final Kind EVAL =
        new Kind(
            "eval",
            List.of(
                new AppOption("--checkpoint", true),
                new AppOption("--weights", true),
                new AppOption("--data", true),
                new AppOption("--json", false)),
            RankEvaluation.class,
            EvalCommand::parse);

    static final Kind PREDICT =
        new Kind(
            "predict",
            List.of(
                new AppOption("--weights", true),
                new AppOption("--data", true),
                new AppOption("--out", true)),
            RankPrediction.class,
            PredictCommand::parse);

    /** Tells whether arguments have an option that is not the command's own. */
    boolean isLaunchedBy(List<String> arguments) {
      return arguments.stream()
          .filter(argument -> argument.startsWith("--"))
          .map(argument -> argument.split("=", 2)[0])
          .anyMatch(name -> options.stream().noneMatch(option -> option.name().equals(name)));
    }
  }

  private final Kind kind;
  private final List<String> arguments;

  SavedRunLaunch(Kind kind, List<String> arguments) {
    this.kind = kind;
    this.arguments = optionsFirst(arguments);
  }

  /** The launcher's options end where something stands that is none. */
  private static List<String> optionsFirst(List<String> arguments) {
    boolean beginsWithRun = !arguments.isEmpty() && !arguments.getFirst().startsWith("-");
    List<String> ordered = new ArrayList<>(arguments);
    if (beginsWithRun) {
      ordered.add(ordered.removeFirst());
    }
    return ordered;
  }

  @Override
  public Integer call() {
    var flags = LaunchFlags.ofThisHost(kind.options()).parse(arguments);
    flags.warnings().forEach(warning -> System.err.println("flotilla: warning: " + warning));
    if (flags.mainClass().isPresent()) {
      throw new ConfigException(
          "--main", "belongs to flotilla run, not to flotilla " + kind.name());
    }
    List<String> given = new ArrayList<>(flags.appArguments());
    given.addAll(flags.rest());
    var job = kind.parse().apply(given);
    job.check();
    return launch(flags, job);
  }

  private int launch(ParsedFlags flags, Job job) {
    var logDir =
        flags
            .logDir()
            .orElseGet(() -> SavedRun.runOf(job.folder()).resolve("log").resolve(kind.name()));
    // By process, so that two of them at once do not read each other's.
    var result = logDir.resolve("result-%d.out".formatted(ProcessHandle.current().pid()));
    var command = RankLaunch.command(kind.rankMain().getName(), job.arguments(result));
    var people = job.printsResult() ? System.err : System.out;
    prepare(logDir, result);
    try {
      int code =
          RankLaunch.launch(flags, logDir, command, RankLaunch.output(people, ProgressMode.NEVER));
      if (job.printsResult() && code == ExitCodes.OK && RankLaunch.isFirstHost(flags)) {
        Files.copy(result, System.out);
      }
      Files.deleteIfExists(result);
      return code;
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot read the result in " + result, failure);
    }
  }

  private static void prepare(Path logDir, Path result) {
    try {
      PrivateFiles.createFolders(logDir);
      PrivateFiles.newFile(result).close();
    } catch (IOException failure) {
      throw new ConfigException(
          "--log-dir", "cannot write logs of ranks to %s; name another folder".formatted(logDir));
    }
  }
}
