package dev.flotilla.app;

import dev.flotilla.launch.LaunchFlags;
import dev.flotilla.world.ExitCodes;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Parameters;

/** Prints a script by which a shell completes commands, options and file names. */
@Command(
    name = "completion",
    description = {
      "Prints a script that completes commands and options in a shell.",
      "bash: source <(flotilla completion bash), also as a line of ~/.bashrc.",
      "zsh: source <(flotilla completion zsh), also as a line of ~/.zshrc."
    },
    footer = {"", "Example:", "  flotilla completion bash"},
    mixinStandardHelpOptions = true)
final class CompletionCommand implements Callable<Integer> {

  /** Shells that the script is for: zsh reads it as bash would. */
  enum Shell {
    BASH,
    ZSH
  }

  @Parameters(index = "0", paramLabel = "bash|zsh", description = "The shell.")
  Shell shell = Shell.BASH;

  @Override
  public Integer call() {
    System.out.print(script());
    return ExitCodes.OK;
  }

  static String script() {
    var main = Main.commandLine();
    var run = spec(main, "run");
    new CommandLine(new TrainCommand())
        .getCommandSpec().options().stream()
            .filter(option -> RunCommand.takes(option.longestName()))
            .filter(option -> isNew(run, option.names()))
            .forEach(option -> run.addOption(OptionSpec.builder(option).build()));
    addLaunchOptions(run);
    addLaunchOptions(spec(main, "doctor"));
    return AutoComplete.bash("flotilla", main);
  }

  private static CommandSpec spec(CommandLine main, String command) {
    return Objects.requireNonNull(main.getSubcommands().get(command)).getCommandSpec();
  }

  /** The launch module reads the options of these commands, so picocli has to be told of them. */
  private static void addLaunchOptions(CommandSpec command) {
    for (var option : LaunchFlags.described()) {
      var words = option.names().split(",? ", -1);
      var names = Arrays.stream(words).filter(word -> word.startsWith("-")).toArray(String[]::new);
      if (isNew(command, names)) {
        boolean takesValue = !words[words.length - 1].startsWith("-");
        command.addOption(
            OptionSpec.builder(names)
                .arity(takesValue ? "1" : "0")
                .type(takesValue ? String.class : boolean.class)
                .build());
      }
    }
  }

  private static boolean isNew(CommandSpec command, String[] names) {
    return Arrays.stream(names).noneMatch(name -> command.findOption(name) != null);
  }
}
