package dev.flotilla.app;

import dev.flotilla.config.RecipeSchema;
import dev.flotilla.launch.LaunchException;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.HomePath;
import dev.flotilla.text.NearestName;
import dev.flotilla.text.Secrets;
import dev.flotilla.world.ExitCoded;
import dev.flotilla.world.ExitCodes;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The entry point of the command line. */
@Command(
    name = "flotilla",
    description = "Trains neural networks on the JVM where memory or the network is small.",
    versionProvider = Version.class,
    mixinStandardHelpOptions = true,
    footer = {"", "Example:", "  flotilla train --max-steps 200"},
    synopsisSubcommandLabel = "COMMAND")
public final class Main {

  private static final String HELP = "help";

  /** All commands by their names, in the order in which they are listed. */
  private static final Map<String, Class<?>> COMMANDS = commands();

  private static Map<String, Class<?>> commands() {
    Map<String, Class<?>> all = new LinkedHashMap<>();
    all.put("train", TrainCommand.class);
    all.put("run", RunCommand.class);
    all.put("eval", EvalCommand.class);
    all.put("predict", PredictCommand.class);
    all.put("export", ExportCommand.class);
    all.put("report", ReportCommand.class);
    all.put("plan", PlanCommand.class);
    all.put("verify", VerifyCommand.class);
    all.put("fit-batch", FitBatchCommand.class);
    all.put("lr-find", LrFindCommand.class);
    all.put("models", ModelsCommand.class);
    all.put("data", DataCommand.class);
    all.put("doctor", DoctorCommand.class);
    all.put("board", BoardCommand.class);
    all.put("bench", BenchCommand.class);
    all.put("examples", ExamplesCommand.class);
    all.put("schema", SchemaCommand.class);
    all.put("completion", CompletionCommand.class);
    all.put("unpack", UnpackCommand.class);
    all.put("warm-up", WarmUpCommand.class);
    all.put(HELP, CommandLine.HelpCommand.class);
    return Collections.unmodifiableMap(all);
  }

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
    if (args.length == 0) {
      commandLine().usage(System.err);
      return ExitCodes.USAGE;
    }
    var rest = Arrays.asList(args).subList(1, args.length);
    if (args[0].equals("run")) {
      return RunHelp.wordIn(rest)
          .map(word -> commandLine().execute("run", word))
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
    // To look at all commands takes half of the time in which a plan is made.
    boolean isOne = COMMANDS.containsKey(args[0]) && !args[0].equals(HELP);
    return commandLine(isOne ? Set.of(args[0]) : COMMANDS.keySet()).execute(args);
  }

  /** Returns all of the command line. */
  static CommandLine commandLine() {
    return commandLine(COMMANDS.keySet());
  }

  private static CommandLine commandLine(Set<String> names) {
    var main = new CommandLine(new Main());
    COMMANDS.forEach(
        (name, command) -> {
          if (names.contains(name)) {
            main.addSubcommand(name, command);
          }
        });
    main.setExecutionExceptionHandler((failure, _, _) -> explain(failure));
    main.setParameterExceptionHandler((mistake, _) -> explainArguments(mistake));
    main.setUnmatchedOptionsArePositionalParams(false);
    main.setCaseInsensitiveEnumValuesAllowed(true);
    main.registerConverter(Path.class, HomePath::of);
    if ("dumb".equals(System.getenv("TERM"))) { // picocli heeds the other variables itself
      main.setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF));
    }
    Optional.ofNullable(main.getSubcommands().get(HELP))
        .ifPresent(
            help ->
                help.getCommandSpec()
                    .usageMessage()
                    .footer("", "Example:", "  flotilla help train"));
    Optional.ofNullable(main.getSubcommands().get("run")).ifPresent(RunHelp::describe);
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
    String shown = new Secrets(System.getenv()).hideIn(String.valueOf(mistake));
    System.err.println(Colours.here().wrong("flotilla:") + " " + shown);
  }
}
