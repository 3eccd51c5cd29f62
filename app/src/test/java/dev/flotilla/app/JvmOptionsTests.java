package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.flotilla.memory.NativeLibraries;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("quick")
class JvmOptionsTests {

  private static final Path ROOT = Path.of("..");

  @Test
  void heapsOfRanksAreCollectedByOneThread() {
    assertThat(JvmOptions.ofRanks(Map.of())).contains("-XX:+UseSerialGC", "-Xmn32m");
  }

  @Test
  void optionsOfTheUserReplaceTheDefault() {
    assertThat(options(" -Xmx8g  -XX:+UseG1GC "))
        .contains("-Xmx8g", "-XX:+UseG1GC")
        .doesNotContain("-XX:+UseSerialGC", "");
    assertThat(options("")).doesNotContain("-XX:+UseSerialGC", "");
  }

  @Test
  void whatTheUserSaysOfCompilationComesLastAndCounts() {
    assertThat(options("-Xmx8g -XX:Tier4InvocationThreshold=5000"))
        .containsSubsequence(
            "-XX:Tier4InvocationThreshold=50000", "-Xmx8g", "-XX:Tier4InvocationThreshold=5000");
  }

  /** Both scripts start the JVM that trains in one process, so they say the same. */
  @Test
  void theScriptsHaveThemToo() throws IOException {
    var options =
        JvmOptions.ofRanks(Map.of()).stream().filter(it -> it.startsWith("-XX:Tier4")).toList();
    assertThat(options).hasSize(4);
    for (var script : List.of("flotilla", "app/src/dist/flotilla")) {
      assertThat(Files.readString(ROOT.resolve(script)))
          .as(script)
          .contains(String.join(" ", options))
          .contains("FLOTILLA_JAVA_OPTIONS--XX:+UseSerialGC -Xmn32m}");
    }
  }

  @Test
  void javaDeserialisationIsRefusedWhateverTheUserChooses() {
    assertThat(JvmOptions.ofRanks(Map.of())).contains("-Djdk.serialFilter=!*");
    assertThat(options("-Xmx8g")).contains("-Djdk.serialFilter=!*");
  }

  @Test
  void librariesOfCudaAreNotLookedForWithoutIt() {
    assumeThat(NativeLibraries.isCudaBuild()).isFalse();
    assertThat(JvmOptions.ofRanks(Map.of())).contains("-Dorg.bytedeco.javacpp.platform.extension=");
  }

  @Test
  void aStartUpCacheIsUsedWhereThereIsOne() {
    assertThat(JvmOptions.ofRanks(Map.of("FLOTILLA_AOT_CACHE", "/a b/start.aot")))
        .contains("-XX:AOTCache=/a b/start.aot", "-Xlog:aot*=off");
    assertThat(JvmOptions.ofRanks(Map.of())).noneMatch(option -> option.contains("aot"));
  }

  private static Iterable<String> options(String chosen) {
    return JvmOptions.ofRanks(Map.of("FLOTILLA_JAVA_OPTIONS", chosen));
  }
}
