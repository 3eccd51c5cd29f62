package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.flotilla.launch.LaunchFlags;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The help of every command ends with a command that can be typed. */
class CommandExamplesTests {

  @TempDir Path folder;

  /** Behind it may be a file for its output. */
  private static final Pattern EXAMPLE = Pattern.compile("  flotilla (.+?)(?: > \\S+)?");

  private static List<CommandLine> all(CommandLine command) {
    List<CommandLine> all = new ArrayList<>(List.of(command));
    command.getSubcommands().values().stream()
        .filter(each -> !each.getCommandSpec().usageMessage().hidden())
        .forEach(each -> all.addAll(all(each)));
    return all;
  }

  @TestFactory
  Stream<DynamicTest> everyHelpEndsWithARealExample() {
    return all(Main.commandLine()).stream()
        .map(it -> dynamicTest(it.getCommandSpec().qualifiedName(), () -> hasExample(it)));
  }

  private void hasExample(CommandLine command) {
    var help = command.getUsageMessage(CommandLine.Help.Ansi.OFF).stripTrailing();
    var lines = help.lines().toList();
    assertThat(lines).anyMatch(line -> line.startsWith("Example:"));
    assertThat(lines.getLast()).matches(EXAMPLE);
    var example = EXAMPLE.matcher(lines.getLast());
    assertThat(example.matches()).isTrue();
    var words = List.of(example.group(1).split(" ", -1));
    assertThat("flotilla " + example.group(1))
        .startsWith(command.getCommandSpec().qualifiedName(" "));
    assertThatCode(() -> parse(words)).as(lines.getLast()).doesNotThrowAnyException();
  }

  /** An example names a key file that the reader has; here one is made. */
  private List<String> withKey(List<String> words) throws IOException {
    var key = Files.writeString(folder.resolve("key"), "ab".repeat(32));
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    List<String> all = new ArrayList<>(words);
    int option = all.indexOf("--job-key-file");
    assertThat(option).isNotNegative();
    all.set(option + 1, key.toString());
    return all;
  }

  private void parse(List<String> words) throws IOException {
    var rest = words.subList(1, words.size());
    switch (words.getFirst()) {
      case "run" -> {
        var flags = LaunchFlags.ofThisHost(RunCommand.TRAIN_OPTIONS).parse(rest);
        List<String> given = new ArrayList<>(flags.appArguments());
        given.addAll(flags.rest());
        assertThat(TrainCommand.parse(given).recipe.recipe).isNotNull();
      }
      case "doctor" -> LaunchFlags.ofThisHost(DoctorCommand.OPTIONS).parse(withKey(rest));
      default -> {
        var parsed = Main.commandLine().parseArgs(words.toArray(String[]::new));
        assertThat(parsed.unmatched()).isEmpty();
      }
    }
  }
}
