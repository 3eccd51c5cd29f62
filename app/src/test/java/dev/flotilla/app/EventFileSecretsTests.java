package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Secrets of the environment, even where a recipe repeats one, do not reach TensorBoard. */
class EventFileSecretsTests {

  private static final String CANARY = "canary-5f2c9e81";

  @TempDir Path folder;

  @Test
  void noSecretReachesAnEventFile() throws IOException, InterruptedException {
    var board = folder.resolve("of-" + CANARY);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    command.addAll(List.of("train", "--out", folder.resolve("run").toString()));
    for (var set :
        List.of("model=mlp", "threads=1", "max_steps=2", "tensorboard={dir: '" + board + "'}")) {
      command.addAll(List.of("--set", set));
    }
    var log = new File(folder.toFile(), "log");
    var child = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log);
    child.environment().put("HF_TOKEN", CANARY);
    var process = child.start();
    assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(log.toPath())).isZero();

    try (var files = Files.list(board.resolve("run"))) {
      var file = files.findFirst().orElseThrow();
      assertThat(Files.readString(file, StandardCharsets.ISO_8859_1))
          .contains("\"max_steps\" : 2", "of-(hidden)", "train/loss")
          .doesNotContain(CANARY);
    }
  }
}
