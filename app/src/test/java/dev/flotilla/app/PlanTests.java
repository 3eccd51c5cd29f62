package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code plan} says of a run that could not go on, or would go on otherwise than it reads. */
@Tag("quick")
class PlanTests {

  @TempDir Path folder;

  /** Returns a run of the default recipe, LeNet-5 on digits in batches of 64, with changes. */
  private static ConfiguredRun run(int ranks, String... sets) {
    List<String> arguments = new ArrayList<>();
    List.of(sets).forEach(set -> arguments.addAll(List.of("--set", set)));
    var options = TrainCommand.parse(arguments).recipe;
    return new ConfiguredRun(options.read(), PlanCommand.worldOf(ranks));
  }

  private static String overview(int ranks, String... sets) {
    var run = run(ranks, sets);
    var plan = run.plan();
    return PlanText.overview(run, plan, PlanCommand.worldOf(ranks)) + PlanText.warnings(plan);
  }

  @Test
  void refusesDataThatTheModelCannotTake() {
    assertThatThrownBy(() -> run(1, "model=resnet18"))
        .isInstanceOf(ConfigException.class)
        .hasMessage(
            "--set model=resnet18: model: takes images of 3 channels, but the data gives images of"
                + " 1x32x32");
    assertThatThrownBy(() -> run(1, "model={name: mlp, inputs: 784, classes: 2}"))
        .hasMessageContaining("model.inputs: must be 1024, the numbers of images of 1x32x32")
        .hasMessageContaining("model.classes: must be at least 10, the classes of the data");
  }

  @Test
  void saysAllThatIsWrongAtOnce() {
    assertThatThrownBy(
            () ->
                run(
                    3,
                    "global_batch=2",
                    "model.classes=5",
                    "freeze=[nothing]",
                    "freeze_statistics=[bn1]",
                    "no_decay=[\"fc9.*\"]"))
        .hasMessageContaining("global_batch: must be at least 3, the number of ranks")
        .hasMessageContaining("model.classes: must be at least 10")
        .hasMessageContaining("freeze: 'nothing' matches none")
        .hasMessageContaining(
            "freeze_statistics: 'bn1' matches nothing: the model has no BatchNorm")
        .hasMessageContaining("no_decay: 'fc9.*' matches none");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "model={name: mlp, hidden: [2147483647, 2147483647, 2147483647]}",
        "model={name: mlp, hidden: [2000000, 2000000]}",
      })
  void refusesAModelThatNoMemoryHolds(String model) {
    assertThatThrownBy(() -> run(1, model))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("model: must have fewer than 1,000,000,000,000 parameters");
  }

  @Test
  void countsUpdatesAndMemory() {
    assertThat(overview(1)).contains("updates  1,256 (8 epochs)", "memory  0.74 MB per rank");
    assertThat(overview(1, "optimizer={name: adam, lr: 0.1}")).contains("memory  0.99 MB per rank");
    assertThat(overview(1, "optimizer={name: sgd, lr: 0.1}")).contains("memory  0.49 MB per rank");
    assertThat(overview(1, "freeze=[\"fc1.*\"]")).contains("memory  0.36 MB per rank");
    assertThat(overview(1, "max_steps=7")).contains("updates  7 (max_steps)");
    assertThat(overview(2, "batch=64", "epochs=1")).contains("updates  79 (1 epoch)");
    assertThat(overview(1, "strategy.gradient_merge.k_steps=4"))
        .contains("updates  320 (8 epochs)");
    assertThat(overview(1, "strategy.gradient_merge={k_steps: 4, tail: drop}"))
        .contains("updates  312 (8 epochs)");
    assertThat(overview(1, "epochs=2147483647")).contains("updates  337,154,932,579 (");
  }

  /** LeNet-5 has 61,760 elements with gaps: 0.247 MB of float32. */
  @Test
  void tellsTheMemoryOfEachStage() {
    String adam = "optimizer={name: adam, lr: 0.1}";
    assertThat(MemoryText.byStage(run(4, adam)).lines().map(line -> line.split(" +k? ?")))
        .anySatisfy(it -> assertThat(it).startsWith("MB", "per", "rank", "parameters"))
        .anySatisfy(
            it -> assertThat(it).startsWith("*", "plain", "0.25", "0.25", "0.49", "0.19", "1.18"))
        .anySatisfy(
            it ->
                assertThat(it)
                    .startsWith("", "sharding,", "stage", "1", "0.25", "0.25", "0.12", "0.69"));
    assertThat(MemoryText.byStage(run(4, adam, "strategy.sharding.stage=1")))
        .contains(
            "\n  plain", "\n* sharding, stage 1", "\n  sharding, stage 2", "\n  sharding, stage 3");
    assertThat(MemoryText.byStage(run(4, adam, "strategy.sharding={stage: 2, no_sync: true}")))
        .contains("\n* sharding, stage 1");
    assertThat(overview(4, adam)).contains("memory  0.99 MB per rank");
    assertThat(overview(4, adam, "strategy.sharding.stage=1")).contains("memory  0.62 MB per rank");
    assertThat(overview(1, adam, "strategy.sharding.stage=1"))
        .contains("memory  0.99 MB per rank", "warning: sharding has no effect on one rank");
  }

  /** As multiples of what an all-reduce in float32 sends. */
  @Test
  void tellsWhatIsSentInHalves() {
    assertThat(MemoryText.byStage(run(2)).lines().map(PlanTests::sent))
        .contains("1", "(k + 1) / 2", "3 k / 2");
    assertThat(MemoryText.byStage(run(2, "strategy.fuse_all_reduce.wire=bf16")).lines())
        .extracting(PlanTests::sent)
        .contains("1 / 2", "3 / 4", "(k + 2) / 4", "5 k / 4");
    String[] halves = {"strategy.sharding={stage: 2, parameters: bf16}", "strategy.amp.dtype=bf16"};
    assertThat(MemoryText.byStage(run(2, halves)))
        .contains("stages have parameters in bf16, and the float32 ones in slices")
        .satisfies(
            text ->
                assertThat(text.lines().map(PlanTests::sent))
                    .contains("1", "1 / 2", "(k + 1) / 4", "3 k / 4"));
  }

  private static String sent(String row) {
    return row.substring(row.lastIndexOf("  ") + 2);
  }

  @Test
  void refusesAStageThatIsNone() {
    assertThatThrownBy(() -> run(2, "strategy.sharding.stage=4"))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("strategy.sharding.stage: must be ")
        .hasMessageContaining("but was 4");
  }

  @Test
  void refusesARunWhoseWindowsAreNeverFull() {
    String tooLong =
        "strategy.gradient_merge.k_steps: max_steps 3 is never reached: an epoch has 157"
            + " micro-steps of 64 samples, which do not fill an accumulation window (lower it, or"
            + " the batch, or set strategy.gradient_merge.tail to flush)";
    String drop = "strategy.gradient_merge={k_steps: 158, tail: drop}";
    assertThatThrownBy(() -> overview(1, drop, "max_steps=3"))
        .isInstanceOf(ConfigException.class)
        .hasMessageEndingWith(tooLong);
    assertThatThrownBy(() -> overview(1, drop))
        .hasMessageContaining("strategy.gradient_merge.k_steps: no update is made in all epochs");
    assertThatThrownBy(
            () -> overview(1, "epochs=1", "strategy.gradient_merge={k_steps: 158, tail: carry}"))
        .hasMessageContaining("no update is made in all epochs");
    assertThatThrownBy(
            () -> overview(1, "strategy.gradient_merge={global_batch: 10112, tail: drop}"))
        .hasMessageContaining("strategy.gradient_merge.global_batch: no update is made");
    assertThat(overview(1, "strategy.gradient_merge={k_steps: 157, tail: drop}"))
        .contains("updates  8 (8 epochs)");
    assertThat(overview(1, "strategy.gradient_merge={k_steps: 158, tail: carry}"))
        .contains("updates  7 (8 epochs)");
  }

  @Test
  void warnsOfAWarmUpThatTheRunDoesNotOutlast() {
    assertThat(overview(1, "schedule.warmup_steps=1255")).doesNotContain("warm-up of");
    assertThat(overview(1, "schedule.warmup_steps=1256"))
        .contains("warning: the warm-up of 1,256 updates is as long as the run of 1,256 or longer");
  }

  @Test
  void refusesABatchThatCannotBeCounted() {
    assertThatThrownBy(() -> run(2, "batch=2147483647"))
        .hasMessage(
            "--set batch=2147483647: batch: must be at most 1073741823, for 2 ranks, but was"
                + " 2147483647");
  }

  @Test
  void warnsOfABatchLargerThanTheData() {
    assertThat(overview(1, "global_batch=10000")).doesNotContain("takes all of them");
    assertThat(overview(2, "batch=5001"))
        .contains(
            "warning: a step takes 10,002 samples over all ranks, but the training data has"
                + " 10,000");
  }

  @Test
  void looksForWeightsAndAtTheirShapes() throws IOException {
    var tiny = "model={name: mlp, hidden: [], classes: 10}";
    var missing = folder.resolve("none.safetensors");
    assertThatThrownBy(() -> run(1, "init_from.path=" + missing).checkWeights())
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("init_from.path: no such file or folder: " + missing);

    var file = weights("fc1.weight", 10, 1024);
    assertThatThrownBy(() -> run(1, tiny, "init_from.path=" + file).checkWeights())
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("missing (1): fc1.bias");
    run(1, tiny, "init_from={path: %s, strict: false}".formatted(file)).checkWeights();

    var other = weights("conv9.weight", 10, 1024);
    assertThatThrownBy(
            () ->
                run(1, tiny, "init_from={path: %s, strict: false}".formatted(other)).checkWeights())
        .hasMessageContaining("has nothing in common with the model");
  }

  /** Writes a safetensors file of one tensor of zeros. */
  private Path weights(String name, int rows, int columns) throws IOException {
    int bytes = rows * columns * Float.BYTES;
    var header =
        "{\"%s\":{\"dtype\":\"F32\",\"shape\":[%d,%d],\"data_offsets\":[0,%d]}}"
            .formatted(name, rows, columns, bytes)
            .getBytes(StandardCharsets.UTF_8);
    var file = ByteBuffer.allocate(Long.BYTES + header.length + bytes);
    file.order(ByteOrder.LITTLE_ENDIAN).putLong(header.length).put(header);
    return Files.write(folder.resolve(name + ".safetensors"), file.array());
  }
}
