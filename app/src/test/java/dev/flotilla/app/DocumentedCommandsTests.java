package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Commands that documents show print what the documents say. */
@Tag("quick")
@Isolated
class DocumentedCommandsTests {

  /** Files that the commands name, in words of the recipes that gave the outputs. */
  private static final Map<String, String> FILES =
      Map.of(
          "notyaml.yaml",
          "model: [lenet5\n",
          "bad.yaml",
          """
          model: lenet
          data: digits
          batch: 0
          epoch: 3
          optimizer: {name: momentum, lr: -0.1, momentun: 0.9}
          """,
          "merge.yaml",
          """
          model: lenet5
          data: digits
          batch: 16
          optimizer: {name: momentum, lr: 0.1}
          strategy: {gradient_merge: {global_batch: 50}}
          """,
          "runs/m/events.jsonl",
          "{}\n");

  /** Commands that end before a rank starts, or start none: they run in this process. */
  private static final List<String> AT_ONCE =
      List.of(
          "./flotilla plan --set optimizer.name=sgd",
          "./flotilla train --set data.name=mnist --set data.path=/no/such",
          "./flotilla train notyaml.yaml",
          "./flotilla train --set threads=10000",
          "./flotilla train --set 'freeze=[\"fc9.*\"]'",
          "./flotilla train --out runs/m",
          "./flotilla plan merge.yaml",
          "./flotilla train --set model=mlp --set model.inputs=784 --max-steps 1",
          "./flotilla train bad.yaml");

  /** Commands that plan, and start nothing: they run in this process too. */
  private static final List<String> PLANS =
      List.of(
          "./flotilla plan mine.yaml",
          "./flotilla plan --nproc 4 --set model=bert-base"
              + " --set 'data={name: synthetic-tokens, vocab_size: 30522, length: 128}'"
              + " --set 'optimizer={name: adam, lr: 0.0001}'"
              + " --set 'strategy.sharding={stage: 2, parameters: bf16}'"
              + " --set strategy.amp.dtype=bf16");

  /** Commands of a second each, in a process of their own. */
  private static final List<String> IN_A_PROCESS =
      List.of(
          "OMP_NUM_THREADS=abc ./flotilla train",
          "RANK=1 ./flotilla train",
          "./flotilla verify recipe.yaml",
          "./flotilla verify recipe.yaml --set batch=17 --set strategy.gradient_merge.tail=carry"
              + " --set strategy.gradient_merge.avg=false");

  /** Why the others are not run. */
  private static final Map<String, String> ELSEWHERE =
      Map.ofEntries(
          Map.entry("mvn ", "builds"),
          Map.entry("sbatch ", "needs Slurm"),
          Map.entry("scancel ", "needs Slurm"),
          Map.entry("grep ", "reads what a command before it wrote"),
          Map.entry("cat ", "shows a recipe"),
          Map.entry("FLOTILLA_LIBTORCH=", "is for arm64 alone"),
          Map.entry("./flotilla train --set device=cuda", "depends on the build"),
          Map.entry("./flotilla run --nproc 2 --max-restarts 3000 --gpus", "depends on GPUs"),
          Map.entry("./flotilla fit-batch", "is for a GPU"),
          Map.entry(
              "./flotilla lr-find", "prints bits of a platform, and is in LearningRateFinderTests"),
          Map.entry("./flotilla bench", "prints what a machine is like"),
          Map.entry("./flotilla plan | grep", "prints what a machine is like"),
          Map.entry("./flotilla verify merge.yaml", "is the second of techniques/verify.md"),
          Map.entry("./flotilla eval", "needs a run before, and is in EvaluationTests"),
          Map.entry("./flotilla predict", "needs a run before, and is in EvaluationTests"),
          Map.entry("./flotilla export", "needs a run before, and is in ExportTests"),
          Map.entry("./flotilla run --nproc 3", "is in KillAndResumeTests"),
          Map.entry("./flotilla run --nproc 2 --main", "is in ExamplesTests"),
          Map.entry("./flotilla run --nproc 2 --set epochs=2", "learns for minutes"),
          Map.entry("./flotilla run --nproc=2 --set epochs=4", "learns for minutes"),
          Map.entry("./flotilla run --nproc 2 mine.yaml", "learns for minutes"),
          Map.entry("./flotilla run --nproc 1 --main Points", "is OwnData of ExamplesTests"),
          Map.entry("./flotilla train mine.yaml", "learns for minutes"),
          Map.entry("./flotilla train --out runs/first", "learns for minutes"),
          Map.entry("./flotilla train --out runs/digits", "learns for minutes"),
          Map.entry("./flotilla report", "needs runs before, and is in ReportCommandTests"),
          Map.entry("xdg-open ", "opens a browser"),
          Map.entry("./flotilla train --set global_batch=16", "learns for minutes"),
          Map.entry("javac ", "builds"),
          Map.entry("./flotilla examples", "is in ExampleRecipesTests"),
          Map.entry("curl ", "asks a run that is under way"),
          Map.entry("jfr ", "reads what a run before it has recorded"),
          Map.entry("./flotilla train --set epochs=2", "learns for minutes"),
          Map.entry("./flotilla train --set strategy.amp", "is in MixedPrecisionTests"),
          Map.entry("./flotilla train encoder.yaml", "is in RecomputeTests"));

  /** Learns for minutes here; platforms.md shows what other systems say. */
  private static final String TRAIN = "./flotilla train";

  @TempDir Path folder;

  @BeforeEach
  void writeFiles() throws IOException {
    for (var file : FILES.entrySet()) {
      var path = folder.resolve(file.getKey());
      Files.createDirectories(path.getParent());
      Files.writeString(path, file.getValue());
    }
    Files.writeString(folder.resolve("mine.yaml"), DocumentedRecipesTests.ofTheTutorial());
  }

  static Stream<String> plans() {
    return PLANS.stream();
  }

  static Stream<String> atOnce() {
    return AT_ONCE.stream();
  }

  static Stream<String> inAProcess() {
    return IN_A_PROCESS.stream();
  }

  @Test
  void everyCommandIsRunOrAReasonIsGiven() throws IOException {
    assertThat(DocumentedCommand.all())
        .hasSizeGreaterThan(25)
        .allSatisfy(
            it ->
                assertThat(
                        AT_ONCE.contains(it.command())
                            || PLANS.contains(it.command())
                            || IN_A_PROCESS.contains(it.command())
                            || it.command().equals(TRAIN)
                            || ELSEWHERE.keySet().stream().anyMatch(it.command()::startsWith))
                    .as("%s in %s", it.command(), it.document())
                    .isTrue());
  }

  @ParameterizedTest
  @MethodSource("atOnce")
  void printsWhatTheDocumentSays(String command) throws IOException {
    var documented = find(command);
    assertThat(printed(documented.words().subList(1, documented.words().size())))
        .matches(documented.exactly());
  }

  @ParameterizedTest
  @MethodSource("plans")
  void plansWhatTheDocumentSays(String command) throws IOException {
    var documented = find(command);
    var arguments = documented.words().stream().skip(1).map(this::here).toArray(String[]::new);
    var bytes = new ByteArrayOutputStream();
    var before = System.out;
    System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      assertThat(Main.run(arguments)).isZero();
    } finally {
      System.setOut(before);
    }
    assertThat(bytes.toString(StandardCharsets.UTF_8)).matches(documented.exactly());
  }

  private static DocumentedCommand find(String command) throws IOException {
    return DocumentedCommand.all().stream()
        .filter(it -> it.command().equals(command))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no document shows " + command));
  }

  /** Runs a command in this process, its files in the test's folder, and returns its errors. */
  private String printed(List<String> words) {
    var arguments = words.stream().map(this::here).toArray(String[]::new);
    var bytes = new ByteArrayOutputStream();
    var before = System.err;
    System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      assertThat(Main.run(arguments)).isNotZero();
    } finally {
      System.setErr(before);
    }
    return bytes.toString(StandardCharsets.UTF_8).replace(folder + "/", "");
  }

  /** Puts the test's folder before the name of a file that is in it. */
  private String here(String word) {
    boolean isOurs = word.matches("[a-z]+\\.yaml|runs/m") && Files.exists(folder.resolve(word));
    return isOurs ? folder.resolve(word).toString() : word;
  }

  @ParameterizedTest
  @MethodSource("inAProcess")
  @Tag("thorough")
  void printsInAProcessWhatTheDocumentSays(String command) throws IOException {
    var documented = find(command);
    var flotilla = Flotilla.in(folder);
    Files.createDirectories(flotilla.work());
    Files.writeString(flotilla.work().resolve("recipe.yaml"), recipe());
    List<String> arguments = new ArrayList<>();
    for (String word : documented.words()) {
      if (word.matches("[A-Z_]+=.*")) {
        flotilla = flotilla.with(word.split("=", 2)[0], word.split("=", 2)[1]);
      } else if (!word.equals("./flotilla")) {
        arguments.add(word);
      }
    }
    var ended = flotilla.run(arguments.toArray(String[]::new));
    assertThat(ended.out() + ended.err()).matches(documented.anyNumbers());
  }

  /** Returns the recipe that techniques/verify.md shows. */
  private static String recipe() throws IOException {
    return String.join("\n", find("cat recipe.yaml").output()) + "\n";
  }
}
