package dev.flotilla.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is missing is named before anything starts. */
class RequirementsTests {

  private static final SparkJob JOB = new SparkJob("", 2, "/out", List.of(), 3, "", false);

  @TempDir Path folder;

  private static SparkConf conf() {
    return new SparkConf(false)
        .set(Requirements.HOME, "/opt/flotilla")
        .set(Requirements.BARRIER_TIMEOUT, "60s");
  }

  @Test
  void everythingThatIsWrongIsNamedAtOnce() {
    var conf = new SparkConf(false).set("spark.dynamicAllocation.enabled", "true");
    assertThatThrownBy(() -> Requirements.check(conf, JOB))
        .isInstanceOf(SparkJobException.class)
        .hasMessageContainingAll(
            "spark.flotilla.home is not set",
            "spark.dynamicAllocation.enabled is true",
            "spark.barrier.sync.timeout is longer than an hour",
            "launchers need a key");
  }

  @Test
  void aKeyNeedsAnEncryptedWayOrAFileOrNobodyToFear() {
    assertThatThrownBy(() -> Requirements.check(conf(), JOB)).hasMessageContaining("--insecure");
    assertThatCode(() -> Requirements.check(conf(), JOB.withoutKey())).doesNotThrowAnyException();
    var encrypted = conf().set("spark.network.crypto.enabled", "true");
    assertThatCode(() -> Requirements.check(encrypted, JOB)).doesNotThrowAnyException();
  }

  @Test
  void aFolderWithoutFlotillaIsNamed() {
    assertThatThrownBy(() -> FlotillaHome.find(folder.toString(), "", Map.of()))
        .hasMessageContainingAll("no Flotilla in " + folder, "spark.flotilla.home");
  }

  @Test
  void anOlderJdkIsNotTaken() throws IOException {
    Files.createFile(Files.createDirectories(folder.resolve("lib")).resolve("flotilla-app-1.jar"));
    var jdk = jdk("older", "17.0.9");
    assertThatThrownBy(() -> FlotillaHome.find(folder.toString(), jdk.toString(), Map.of()))
        .hasMessageContainingAll("no JDK 25 or later", "spark.flotilla.jdk");
    var home = FlotillaHome.find(folder.toString(), jdk("newer", "25.0.3").toString(), Map.of());
    assertThat(home.command(List.of("run")))
        .startsWith(folder.resolve("newer/bin/java").toString())
        .endsWith("-cp", folder.resolve("lib") + "/*", "dev.flotilla.app.Main", "run");
  }

  private Path jdk(String name, String version) throws IOException {
    var jdk = folder.resolve(name);
    Files.createDirectories(jdk.resolve("bin"));
    Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"%s\"\n".formatted(version));
    assertThat(Files.createFile(jdk.resolve("bin/java")).toFile().setExecutable(true)).isTrue();
    return jdk;
  }

  @Test
  void aFolderThatMeansSomethingElseOnEachHostIsRefused() {
    assertThatThrownBy(() -> new SparkJob("", 2, "runs/a", List.of(), 3, "", true))
        .hasMessageContaining("must be an absolute path");
  }

  @Test
  void argumentsThatNobodyKnowsAreNamed() {
    assertThatThrownBy(() -> Main.main(new String[] {"a.yaml", "--rank", "2"}))
        .hasMessageContainingAll("unknown '--rank'", "usage: Main RECIPE --out DIR");
    assertThatThrownBy(() -> Main.main(new String[] {"a.yaml", "--ranks", "two"}))
        .hasMessage("--ranks must be a whole number, but was 'two'");
  }
}
