package dev.flotilla.app;

import dev.flotilla.launch.LaunchFlags;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * Says what {@code flotilla run} takes, whose options the launch module reads instead of picocli.
 */
final class RunHelp {

  private static final List<String> WORDS = List.of("-h", "--help", "-V", "--version");

  private static final int WIDTH = 72;

  private RunHelp() {}

  /**
   * Returns the word that asks for help, unless it is an argument of a program of the user's own.
   */
  static Optional<String> wordIn(List<String> arguments) {
    boolean hasProgram = arguments.stream().anyMatch(it -> it.split("=", 2)[0].equals("--main"));
    Stream<String> own =
        hasProgram
            ? arguments.stream().limit(1)
            : arguments.stream().takeWhile(argument -> !argument.equals("--"));
    return own.filter(WORDS::contains).findFirst();
  }

  /** Adds all options to the help of the command, which are put together when it is asked for. */
  static void describe(CommandLine run) {
    run.getHelpSectionMap()
        .put(UsageMessageSpec.SECTION_KEY_FOOTER, _ -> String.join("\n", lines()) + "\n");
  }

  private static List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add("");
    lines.add("Options of a recipe, as of flotilla train:");
    for (var option : new CommandLine(new TrainCommand()).getCommandSpec().options()) {
      if (RunCommand.takes(option.longestName())) {
        add(lines, names(option), String.join(" ", option.description()));
      }
    }
    lines.add("");
    lines.add("Options of the launcher, written with dashes or underscores:");
    LaunchFlags.described().forEach(option -> add(lines, option.names(), option.doc()));
    lines.add("");
    lines.add(
        "Others of torchrun and Fleet are refused with the reason, or named as without effect.");
    lines.add("");
    lines.add("Example:");
    lines.add("  flotilla run --nproc 2 dgc.yaml --out runs/two-ranks");
    return lines;
  }

  private static String names(OptionSpec option) {
    String label = option.arity().max() == 0 ? "" : " " + option.paramLabel();
    return String.join(", ", option.names()) + label;
  }

  private static void add(List<String> lines, String names, String doc) {
    lines.add("  " + names);
    var line = new StringBuilder();
    for (String word : doc.split(" ", -1)) {
      if (line.length() + word.length() > WIDTH) {
        lines.add("      " + line);
        line.setLength(0);
      }
      line.append(line.isEmpty() ? "" : " ").append(word);
    }
    lines.add("      " + line);
  }
}
