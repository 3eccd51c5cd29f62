package dev.flotilla.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class NoLibtorchTests {

  @TempDir Path folder;

  @Test
  void readsARecipeWithoutLoadingAClassOfLibtorch() throws IOException, InterruptedException {
    Path recipe = Files.writeString(folder.resolve("r.yaml"), RunConfigTests.FULL);
    Path classes = folder.resolve("classes.txt");
    Path output = folder.resolve("output.txt");
    var process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xlog:class+load:file=" + classes,
                "-cp",
                System.getProperty("java.class.path"),
                ReadRecipeMain.class.getName(),
                recipe.toString())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(output).content().contains("optimizer.lr=0.001");
    assertThat(process.exitValue()).isZero();
    assertThat(classes)
        .content()
        .contains("dev.flotilla.memory.Precision")
        .doesNotContain("org.bytedeco");
  }
}
