package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.app.doctor.Measured;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code flotilla doctor} as users start it. */
class DoctorTests {

  @TempDir Path folder;

  @Test
  @SuppressWarnings("unchecked")
  void twoRanksMeasureTheirLink() throws IOException {
    var ended = Flotilla.in(folder).run("doctor", "--nproc", "2", "--json").expect(ExitCodes.OK);

    var json = Files.writeString(folder.resolve("out.json"), ended.out());
    var read = Json.read(json);
    assertThat((List<Map<String, Object>>) read.get("findings"))
        .extracting(it -> it.get("check"))
        .containsSubsequence("jdk", "memory", "ports", "libtorch", "clock", "latency", "bandwidth")
        .doesNotContain("ranks", "links");
    var measured = Measured.of(Objects.requireNonNull((Map<String, Object>) read.get("measured")));
    assertThat(measured.hosts()).hasSize(2);
    assertThat(measured.pairs()).hasSize(1);
    assertThat(measured.pairs().getFirst().bitsPerSecond()).isGreaterThan(1e6);
    assertThat(measured.allReduceSecondsPerByte()).isPositive();
    assertThat(measured.busy().secondsPerByte()).isPositive();
    assertThat(measured.busy().work()).isBetween(0.0, measured.busy().secondsPerByte());
    assertThat(Flotilla.in(folder).files()).isEmpty();
  }

  @Test
  void anErrorEndsWithExitCodeOneAndSaysWhatMendsIt() {
    var ended = Flotilla.in(folder).run("doctor", "--out", "/proc/runs").expect(ExitCodes.FAILED);

    assertThat(ended.out())
        .containsPattern("error +disk +/proc cannot be written to")
        .contains("mend:  start it elsewhere, name a folder with --out")
        .containsPattern("1 error, \\d+ warnings?, ")
        .containsPattern("ok +libtorch +loaded in ");
  }

  @Test
  void aRecipeIsNotForTheDoctor() {
    var ended = Flotilla.in(folder).run("doctor", "recipe.yaml").expect(ExitCodes.USAGE);

    assertThat(ended.err())
        .contains("doctor: takes the launcher's options, --out and --json alone");
  }
}
