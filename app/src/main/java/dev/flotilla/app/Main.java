package dev.flotilla.app;

import dev.flotilla.config.RecipeSchema;
import dev.flotilla.launch.LaunchException;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.HomePath;
import dev.flotilla.text.NearestName;
import dev.flotilla.world.ExitCoded;
import dev.flotilla.world.ExitCodes;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The entry point of the command line. */
@Command(
    name = "flotilla",
    description = "Trains neural networks on the JVM where memory or the network is small.",
    subcommands = {
      TrainCommand.class,
      RunCommand.class,
      EvalCommand.class,
      PredictCommand.class,
      ExportCommand.class,
      ReportCommand.class,
      PlanCommand.class,
      VerifyCommand.class,
      FitBatchCommand.class,
      LrFindCommand.class,
      ModelsCommand.class,
      DataCommand.class,
      DoctorCommand.class,
      BoardCommand.class,
      BenchCommand.class,
      ExamplesCommand.class,
      SchemaCommand.class,
      CompletionCommand.class,
      UnpackCommand.class,
      WarmUpCommand.class,
      CommandLine.HelpCommand.class
    },
    versionProvider = Version.class,
    mixinStandardHelpOptions = true,
    footer = {"", "Example:", "  flotilla train --max-steps 200"},
    synopsisSubcommandLabel = "COMMAND")
public final class Main {

  private Main() {}

  /** Runs a command and exits with its code. */
  public static void main(String[] args) {
    var output = Output.install();
    System.exit(output.exitCode(run(args)));
  }

  static int run(String... args) {
    warnOfOldJdk(Runtime.version());
    if (PlainLocale.isInTheWay(args)) {
      System.err.println("flotilla: " + PlainLocale.ADVICE);
      return ExitCodes.USAGE;
    }
    var main = commandLine();
    if (args.length == 0) {
      main.usage(System.err);
      return ExitCodes.USAGE;
    }
    var rest = Arrays.asList(args).subList(1, args.length);
    if (args[0].equals("run")) {
      return RunHelp.wordIn(rest)
          .map(word -> main.execute("run", word))
          .orElseGet(() -> launch(new RunCommand(rest)));
    }
    if (args[0].equals("doctor") && !isHelpAsked(rest.stream())) {
      return launch(new DoctorCommand(rest));
    }
    for (var kind : List.of(SavedRunLaunch.Kind.EVAL, SavedRunLaunch.Kind.PREDICT)) {
      if (args[0].equals(kind.name()) && kind.isLaunchedBy(rest) && !isHelpAsked(rest.stream())) {
        return launch(new SavedRunLaunch(kind, rest));
      }
    }
    return main.execute(args);
  }

  static CommandLine commandLine() {
    var main = new CommandLine(new Main());
    main.setExecutionExceptionHandler((failure, _, _) -> explain(failure));
    main.setParameterExceptionHandler((mistake, _) -> explainArguments(mistake));
    main.setUnmatchedOptionsArePositionalParams(false);
    main.setCaseInsensitiveEnumValuesAllowed(true);
    main.registerConverter(Path.class, HomePath::of);
    if ("dumb".equals(System.getenv("TERM"))) { // picocli heeds the other variables itself
      main.setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF));
    }
    Objects.requireNonNull(main.getSubcommands().get("help"))
        .getCommandSpec()
        .usageMessage()
        .footer("", "Example:", "  flotilla help train");
    RunHelp.describe(Objects.requireNonNull(main.getSubcommands().get("run")));
    return main;
  }

  /** JDK 25.0.0 to 25.0.2 may move arrays that native code holds (JDK-8377811). */
  private static void warnOfOldJdk(Runtime.Version version) {
    if (version.compareToIgnoreOptional(Runtime.Version.parse("25.0.3")) < 0) {
      System.err.println(
          "flotilla: warning: Java " + version + " can corrupt data; use 25.0.3 or later");
    }
  }

  /** The launch module reads these arguments itself: they are torchrun's, not picocli's. */
  private static int launch(Callable<Integer> command) {
    try {
      return command.call();
    } catch (Exception failure) {
      return explain(failure);
    }
  }

  private static boolean isHelpAsked(Stream<String> arguments) {
    return arguments.anyMatch(List.of("-h", "--help", "-V", "--version")::contains);
  }

  /** What is no option may be a key of the recipe, which many a newcomer takes for one. */
  private static int explainArguments(CommandLine.ParameterException mistake) {
    var command = mistake.getCommandLine();
    var err = command.getErr();
    var unknown = unknownCommand(mistake);
    if (unknown.isPresent()) {
      err.println("flotilla: " + unknown.get());
      err.println("flotilla --help lists the commands.");
      return ExitCodes.USAGE;
    }
    err.println("flotilla: " + mistake.getMessage());
    if (!CommandLine.UnmatchedArgumentException.printSuggestions(mistake, err)) {
      keyMeantBy(mistake)
          .ifPresent(key -> err.println("Keys of a recipe are set with --set " + key + "=VALUE."));
      err.println(command.getCommandSpec().qualifiedName() + " --help lists the options.");
    }
    return ExitCodes.USAGE;
  }

  private static Optional<String> unknownCommand(CommandLine.ParameterException mistake) {
    var command = mistake.getCommandLine();
    boolean isCommand =
        mistake instanceof CommandLine.UnmatchedArgumentException unmatched
            && command.getParent() == null
            && !unmatched.isUnknownOption();
    if (!isCommand) {
      return Optional.empty();
    }
    String word = ((CommandLine.UnmatchedArgumentException) mistake).getUnmatched().getFirst();
    String hint =
        NearestName.of(word, command.getSubcommands().keySet())
            .map(name -> "; did you mean 'flotilla %s'?".formatted(name))
            .orElse("");
    return Optional.of("unknown command '%s'%s".formatted(word, hint));
  }

  private static Optional<String> keyMeantBy(CommandLine.ParameterException mistake) {
    boolean takesKeys = mistake.getCommandLine().getCommandSpec().findOption("--set") != null;
    return takesKeys && mistake instanceof CommandLine.UnmatchedArgumentException unmatched
        ? RecipeSchema.keyMeantBy(
            unmatched.getUnmatched().getFirst().replaceAll("^-+|=.*", "").replace('-', '_'))
        : Optional.empty();
  }

  /** A user's mistake is one message; anything else is our bug and shows where it happened. */
  private static int explain(Exception failure) {
    return switch (failure) {
      case ConfigException mistake -> {
        mistake.problems().forEach(problem -> say(problem.toString()));
        yield ExitCodes.USAGE;
      }
      case LaunchException mistake -> {
        mistake.problems().forEach(problem -> say(problem.toString()));
        yield mistake.exitCode();
      }
      case RuntimeException known when known instanceof ExitCoded coded -> {
        say(known.getMessage());
        yield coded.exitCode();
      }
      case CommandLine.ParameterException mistake -> {
        say(mistake.getMessage());
        yield ExitCodes.USAGE;
      }
      case InvalidPathException mistake -> {
        say("the path '%s' cannot be used: %s".formatted(mistake.getInput(), mistake.getReason()));
        yield ExitCodes.USAGE;
      }
      default -> {
        failure.printStackTrace();
        yield ExitCodes.FAILED;
      }
    };
  }

  private static void say(@Nullable String mistake) {
    System.err.println(Colours.here().wrong("flotilla:") + " " + mistake);
  }
}
