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

/** Scores a saved model over ranks that it launches; everything is checked before they start. */
final class EvalLaunch implements Callable<Integer> {

  private static final List<AppOption> OPTIONS =
      List.of(
          new AppOption("--checkpoint", true),
          new AppOption("--data", true),
          new AppOption("--json", false));

  private final List<String> arguments;

  EvalLaunch(List<String> arguments) {
    this.arguments = arguments;
  }

  /** Tells whether arguments of {@code flotilla eval} have an option that is not its own. */
  static boolean isAskedFor(List<String> arguments) {
    return arguments.stream()
        .filter(argument -> argument.startsWith("--"))
        .map(argument -> argument.split("=", 2)[0])
        .anyMatch(name -> OPTIONS.stream().noneMatch(option -> option.name().equals(name)));
  }

  @Override
  public Integer call() {
    var flags = LaunchFlags.ofThisHost(OPTIONS).parse(arguments);
    flags.warnings().forEach(warning -> System.err.println("flotilla: warning: " + warning));
    if (flags.mainClass().isPresent()) {
      throw new ConfigException("--main", "belongs to flotilla run, not to flotilla eval");
    }
    List<String> given = new ArrayList<>(flags.appArguments());
    given.addAll(flags.rest());
    var eval = EvalCommand.parse(given);
    eval.config().checkData();
    return launch(flags, eval);
  }

  private static int launch(ParsedFlags flags, EvalCommand eval) {
    var logDir =
        flags.logDir().orElseGet(() -> SavedRun.runOf(eval.folder).resolve("log").resolve("eval"));
    // By process, so that two evaluations at once do not read each other's.
    var result = logDir.resolve("result-%d.json".formatted(ProcessHandle.current().pid()));
    var command = RankLaunch.command(RankEvaluation.class.getName(), eval.arguments(result));
    var people = eval.json ? System.err : System.out;
    prepare(logDir, result);
    try {
      int code =
          RankLaunch.launch(flags, logDir, command, RankLaunch.output(people, ProgressMode.NEVER));
      if (eval.json && code == ExitCodes.OK && RankLaunch.isFirstHost(flags)) {
        System.out.print(Files.readString(result));
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
