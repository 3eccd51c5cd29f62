package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A user's mistake ends with one message per problem, before anything starts. */
class BadInputTests {

  private static final int USAGE = 2;
  private static final int RENDEZVOUS_FAILED = 6;

  private static final String SOUND =
      """
      model: lenet5
      data: digits
      batch: 64
      optimizer: {name: sgd, lr: 0.1}
      """;

  @TempDir Path folder;
  private Flotilla flotilla;
  private Path recipe;

  @BeforeEach
  void writeRecipe() throws IOException {
    flotilla = Flotilla.in(folder);
    Files.createDirectories(flotilla.work());
    recipe = Files.writeString(flotilla.work().resolve("recipe.yaml"), SOUND);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "batch: 64 | batch: 0 | recipe.yaml:3: batch: must be at least 1, but was 0",
        "lr: 0.1 | lr: -0.1 | recipe.yaml:4: optimizer.lr: must be greater than 0, but was -0.1",
        "batch: 64 | bacth: 64 | recipe.yaml:3: bacth: unknown key; did you mean 'batch'?",
        "lenet5 | lenet6 | recipe.yaml:1: model: unknown model 'lenet6'; did you mean 'lenet5'?",
        "model: | ]model: | recipe.yaml:1:1: is not YAML",
        "lenet5 | !!java.net.URL lenet5 | recipe.yaml:1: model: tags are not allowed",
        "digits | {name: mnist, path: nowhere} | recipe.yaml:2: data.path: no such folder: ",
      })
  void isNamedWithItsPlace(String sound, String wrong, String message) throws IOException {
    Files.writeString(recipe, SOUND.replace(sound, wrong));
    refusedHere(message, "train", recipe.toString());
    refusedHere(message, "run", "--nproc", "2", recipe.toString());
  }

  @Test
  void allProblemsOfARecipeAreReportedTogether() throws IOException {
    Files.writeString(
        recipe, SOUND.replace("lenet5", "lenet").replace("64", "-1").replace("lr", "learning"));
    var report = refused("recipe.yaml:1: model: unknown model 'lenet'");
    assertThat(report.lines())
        .hasSize(4)
        .allMatch(line -> line.startsWith("flotilla: recipe.yaml"))
        .anyMatch(line -> line.contains("recipe.yaml:3: batch: must be at least 1, but was -1"))
        .anyMatch(line -> line.contains("recipe.yaml:4: optimizer.learning: is not a key of"))
        .anyMatch(line -> line.contains("recipe.yaml:4: optimizer.lr: is missing"));
  }

  @Test
  void aSoundFolderOfImagesIsTakenAndADamagedOneIsNot() throws IOException {
    var data = IdxFolder.write(folder.resolve("data"));
    useData(folder.resolve("data"));
    flotilla.run("plan", "recipe.yaml").expect(0);

    data.truncate("train-images-idx3-ubyte").spoilMagic("t10k-labels-idx1-ubyte");

    var report = refused("train-images-idx3-ubyte");
    assertThat(report.lines())
        .hasSize(2)
        .anyMatch(line -> line.contains("train-images-idx3-ubyte: ") && line.contains("6288"))
        .anyMatch(line -> line.contains("t10k-labels-idx1-ubyte: ") && line.contains("magic"));
  }

  private void useData(Path path) throws IOException {
    Files.writeString(recipe, SOUND.replace("digits", "{name: mnist, path: %s}".formatted(path)));
  }

  @Test
  void aRecipeThatIsNotThereIsNamed() throws IOException {
    Files.delete(recipe);
    refused("recipe.yaml: there is no such recipe file");
  }

  @Test
  void aFolderThatHoldsARunIsRefused() throws IOException {
    var run = Files.createDirectories(flotilla.work().resolve("run"));
    Files.writeString(run.resolve("events.jsonl"), "{}\n");
    refused("run already holds a run (events.jsonl)", "--out", "run");
  }

  @Test
  void aFolderThatCannotBeMadeIsRefused() {
    refused("out: cannot write to recipe.yaml/run: Not a directory", "--out", "recipe.yaml/run");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "run --nproc 0 recipe.yaml | --nproc must be a whole number from 1 to 1024",
        "plan --nproc 0 recipe.yaml | --nproc: must be at least 1, but was 0",
        "run recipe.yaml --nproc 0 | --nproc must be a whole number from 1 to 1024",
        "eval --checkpoint nowhere | --checkpoint: nowhere does not exist; name the folder of a"
            + " run",
        "eval --nproc 2 --checkpoint nowhere | --checkpoint: nowhere does not exist",
        "eval --checkpoint recipe.yaml | recipe.yaml is a file; name the folder of",
        "run --nprc 2 recipe.yaml | unknown option --nprc; did you mean --nproc?",
        "train --sett batch=1 | Possible solutions: --set",
        "train --epoch 3 | Keys of a recipe are set with --set epochs=VALUE.",
        "train --global-batch=32 | Keys of a recipe are set with --set global_batch=VALUE.",
        "train --zigzag | flotilla train --help lists the options.",
        "trian | flotilla: unknown command 'trian'; did you mean 'flotilla train'?",
        "train --max-steps none | --max-steps: max_steps: must be a whole number, but was 'none'",
        "train --set bacth=1 | --set bacth=1: bacth: unknown key; did you mean 'batch'?",
      })
  void wrongArgumentsAreNamed(String arguments, String message) {
    refusedHere(message, arguments.replace("recipe.yaml", recipe.toString()).split(" "));
  }

  private void refusedHere(String message, String... arguments) {
    var known = flotilla.files();
    var ended = Ended.here(arguments).expect(USAGE).explainsItself();
    assertThat(ended.err()).contains(message);
    assertThat(ended.out()).isEmpty();
    assertThat(flotilla.files()).isEqualTo(known);
  }

  @Test
  void aWrongArgumentEndsTheProcess() {
    var known = flotilla.files();
    refused(flotilla.start("train", "--sett", "batch=1"), "option: '--sett'", USAGE, known);
  }

  @Test
  void namesThatTheLocaleCannotExpressAreNotGuessed() throws IOException {
    var plain = flotilla.with("LC_ALL", "C");
    var known = flotilla.files();
    // In octal: this process may have such a locale itself.
    var named = "exec \"$0\" \"$@\" \"$(printf 'gr\\303\\266\\303\\237er.yaml')\"";
    refused(plain.through("sh", "-c", named).start("plan"), "set LC_ALL=C.UTF-8", USAGE, known);

    Files.writeString(recipe, SOUND.replace("digits", "{name: mnist, path: größer}"));

    var locale = "data.path: must be a path that the locale can express (set LC_ALL=C.UTF-8)";
    refused(plain.start("plan", "recipe.yaml"), locale, USAGE, known);
  }

  @Test
  void outputThatCannotBeWrittenIsNoSuccess() {
    var full = flotilla.through("sh", "-c", "exec \"$0\" \"$@\" > /dev/full").run("models");
    assertThat(full.expect(1).explainsItself().err())
        .isEqualTo("flotilla: standard output could not be written: No space left on device\n");

    var left = flotilla.through("bash", "-c", "\"$0\" \"$@\" | true; exit ${PIPESTATUS[0]}");
    assertThat(left.run("models").expect(0).err()).isEmpty();
  }

  @Test
  void aBusyPortIsNamed() throws IOException {
    try (var server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      var port = Integer.toString(server.getLocalPort());
      var known = flotilla.files();
      var command = flotilla.start("run", "--nproc", "2", "--master-port", port, "--out", "run");
      refused(command, "port " + port + " of this host cannot be used", RENDEZVOUS_FAILED, known);
    }
  }

  /** Checks that training refuses the recipe in one process as well as in several. */
  private String refused(String message, String... options) {
    var known = flotilla.files();
    var train = flotilla.start(arguments(List.of("train", "recipe.yaml"), options));
    var run = flotilla.start(arguments(List.of("run", "--nproc", "2", "recipe.yaml"), options));
    try (train;
        run) {
      refused(run, message, USAGE, known);
      assertThat(train.await().out()).isEmpty();
      return refused(train, message, USAGE, known);
    }
  }

  private static String[] arguments(List<String> first, String... options) {
    return Stream.concat(first.stream(), Stream.of(options)).toArray(String[]::new);
  }

  private String refused(Running command, String message, int exitCode, List<String> known) {
    try (command) {
      var ended = command.await().expect(exitCode).explainsItself();
      assertThat(ended.err()).contains(message);
      assertThat(flotilla.files()).isEqualTo(known);
      assertThat(command.living()).isEmpty();
      return ended.err();
    }
  }
}
