package dev.flotilla.app.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script for Slurm is bash that shellcheck likes, and does what its job needs. */
class SlurmScriptTests {

  private static final List<String> ODD =
      List.of("/data/my recipe.yaml", "--set", "model={name: 'it''s', n: $HOME}");

  @TempDir Path folder;

  private static String script(int hosts) {
    return new SlurmScript(
            new JobShape("digits", hosts, 2, 3, 60, 4),
            "1-12:00:00",
            "/opt/flotilla/flotilla",
            ODD,
            "/shared/runs/a b",
            List.of("--partition=short", "--account=me"))
        .text();
  }

  @Test
  void slurmIsAskedForARequeueAndASignalBeforeTheLimit() {
    assertThat(script(2).lines().filter(line -> line.startsWith("#SBATCH")))
        .containsExactly(
            "#SBATCH --job-name=digits",
            "#SBATCH --nodes=2",
            "#SBATCH --ntasks-per-node=1",
            "#SBATCH --cpus-per-task=6",
            "#SBATCH --time=1-12:00:00",
            "#SBATCH --signal=B:TERM@90",
            "#SBATCH --requeue",
            "#SBATCH --open-mode=append",
            "#SBATCH --output=%x-%j.out",
            "#SBATCH --partition=short",
            "#SBATCH --account=me");
  }

  /** A launcher that has saved ends with code 10; the others must still end by themselves. */
  @Test
  void srunDoesNotSignalLaunchersBecauseAnotherHasEnded() {
    assertThat(script(2)).contains("srun --ntasks", "--kill-on-bad-exit=0 --wait=60");
  }

  @Test
  void bashReadsEveryWordAsItWasGiven() throws Exception {
    var ended = run("bash", withFakes("printf '<%s>' \"$@\"", script(1), "1"));
    assertThat(ended.text())
        .contains("</data/my recipe.yaml><--set><model={name: 'it''s', n: $HOME}>")
        .contains("<run><--nproc><2><--stop-grace-period><60><--max-restarts><4>")
        .contains("<--out></shared/runs/a b><--resume><auto><--node-rank><0>")
        .contains("<--log-dir></shared/runs/a b/log/node-0>")
        .doesNotContain("--nnodes");
    assertThat(ended.code()).isZero();
  }

  @Test
  void launchersOfSeveralNodesGetAMasterAndAKeyThatIsRemovedBehindThem() throws Exception {
    var shows = "printf '<%s>' \"$@\"; stat -c ' %a %s' .flotilla-12345.key";
    var ended = run("bash", withFakes(shows, script(2), "2"));
    assertThat(ended.text())
        .contains("<--nnodes><2><--master-addr><first><--job-key-file>")
        .contains("<--master-port><19690>")
        .contains(" 600 64");
    try (var left = Files.list(folder)) {
      assertThat(left.map(file -> file.getFileName().toString()))
          .noneMatch(it -> it.contains("key"));
    }
  }

  @Test
  void aJobThatHasSavedIsQueuedAgainAndAFailedOneIsNot() throws Exception {
    var saved = run("bash", withFakes("exit 10", script(1), "1"));
    assertThat(saved.text()).contains("the job is queued again", "scontrol requeue 12345");
    assertThat(saved.code()).isEqualTo(10);
    var failed = run("bash", withFakes("exit 7", script(1), "1"));
    assertThat(failed.text()).doesNotContain("requeue");
    assertThat(failed.code()).isEqualTo(7);
  }

  @Test
  void shellcheckHasNothingToSay() throws Exception {
    var file = Files.writeString(folder.resolve("job.sbatch"), script(2));
    try {
      assertThat(run("shellcheck", file).text()).isEmpty();
    } catch (IOException missing) {
      abort("shellcheck is not here");
    }
  }

  @Test
  void whatAScriptCannotHoldIsRefused() {
    assertThatThrownBy(
            () ->
                new SlurmScript(
                    new JobShape("digits", 1, 2, 1, 60, 3),
                    "soon",
                    "flotilla",
                    List.of(),
                    "/out",
                    List.of("--x\nrm -rf /")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContainingAll("--time", "--sbatch");
  }

  /** Slurm's commands as functions: srun runs a program in place of Flotilla. */
  private Path withFakes(String program, String script, String nodes) throws IOException {
    var fake = Files.writeString(folder.resolve("fake"), "#!/usr/bin/env bash\n" + program + "\n");
    assertThat(fake.toFile().setExecutable(true)).isTrue();
    var slurm =
        """
        export SLURM_JOB_ID=12345 SLURM_JOB_NUM_NODES=%s SLURM_CPUS_PER_TASK=6 SLURM_NODEID=0
        export SLURM_JOB_NODELIST='first,second'
        cd '%s'
        srun() { while [[ $1 != bash ]]; do shift; done; "$@"; }
        squeue() { echo RUNNING; }
        scontrol() { if [[ $1 == show ]]; then printf 'first\\nsecond\\n'; else echo "scontrol $*"; fi; }
        """
            .formatted(nodes, folder);
    return Files.writeString(
        folder.resolve("job"),
        slurm + script.replace("flotilla=/opt/flotilla/flotilla", "flotilla='" + fake + "'"));
  }

  private record Ended(int code, String text) {}

  private static Ended run(String program, Path file) throws Exception {
    var process = new ProcessBuilder(program, file.toString()).redirectErrorStream(true).start();
    try {
      var text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
      return new Ended(process.exitValue(), text);
    } finally {
      process.destroyForcibly();
    }
  }
}
