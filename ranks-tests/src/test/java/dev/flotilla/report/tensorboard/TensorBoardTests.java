package dev.flotilla.report.tensorboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.flotilla.report.TrainingEvent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What TensorBoard is told, byte by byte and step by step. */
class TensorBoardTests {

  private static final InstantSource CLOCK = InstantSource.fixed(Instant.ofEpochMilli(1500));

  @TempDir Path folder;

  private static TrainingEvent started() {
    return new TrainingEvent.Started(1, 10, 100, 1);
  }

  private static TrainingEvent updated(long update, double loss) {
    return new TrainingEvent.Updated(0, update, update, loss, 0.1, null, null, 12.5);
  }

  /** The oracle is what tensorboard 2.21's RecordWriter makes of the same events. */
  @Test
  void writesTheBytesThatTensorBoardsOwnWriterDoes() throws IOException {
    try (var board = new TensorBoard(folder, CLOCK)) {
      board.on(updated(300, 0.25));
    }
    var hex = HexFormat.of().formatHex(Files.readAllBytes(ReadEvents.files(folder).getFirst()));
    assertThat(hex)
        .startsWith(
            "1800000000000000a37f4b2209000000000000f83f1a0d627261696e2e4576656e743a322a28646c")
        .contains(
            "2100000000000000017becf609000000000000f83f10ac022a130a110a0a747261696e2f6c6f7373"
                + "150000803e6557981f");
    assertThat(ReadEvents.files(folder).getFirst().getFileName().toString())
        .startsWith("events.out.tfevents.0000000001.");
  }

  @Test
  void namesScalarsAsUsersOfOtherLibrariesExpect() throws IOException {
    try (var board = new TensorBoard(folder)) {
      board.on(new TrainingEvent.Configured(Map.of("seed", 7)));
      board.on(started());
      board.on(new TrainingEvent.Updated(1, 20, 40, 0.5, 0.01, 0.75, 0.875, 64));
      board.on(
          new TrainingEvent.Evaluated(
              1,
              20,
              0.25,
              0.5,
              1.0,
              100,
              Map.of("f1", 0.125, "confusion", List.of(List.of(1L, 2L)))));
      board.on(new TrainingEvent.Logged(1, 20, Map.of("norm", 3.0, "mine/ratio", 4.0)));
      board.on(new TrainingEvent.Averaged(20, 4, 0.5, 0.75, 1, 0.1));
      board.on(new TrainingEvent.DeviceUsed(20, "cuda:0", 1024, 2048));
    }
    var points = ReadEvents.shown(folder);
    assertThat(points.stream().filter(ReadEvents.Point::isScalar))
        .allMatch(point -> point.step() == 20)
        .extracting(point -> point.tag() + "=" + point.scalar())
        .containsExactlyInAnyOrder(
            "train/loss=0.5",
            "train/lr=0.01",
            "train/epoch=2.0",
            "train/acc1=0.75",
            "train/acc5=0.875",
            "train/samples_per_second=64.0",
            "eval/loss=0.25",
            "eval/acc1=0.5",
            "eval/acc5=1.0",
            "eval/f1=0.125",
            "train/norm=3.0",
            "mine/ratio=4.0",
            "average/interval=4.0",
            "average/drift_mean=0.5",
            "average/drift_largest=0.75",
            "system/gpu_live_bytes=1024.0",
            "system/gpu_peak_bytes=2048.0");
    assertThat(points.getFirst().tag()).isEqualTo("config/text_summary");
    assertThat(points.getFirst().text()).isEqualTo("    {\n      \"seed\" : 7\n    }\n");
  }

  @Test
  void refusesAFolderOfSomebodyElse() throws IOException {
    assumeTrue(ProcessHandle.current().info().user().equals(Optional.of("root")));
    var users = folder.getFileSystem().getUserPrincipalLookupService();
    Files.setOwner(folder, users.lookupPrincipalByName("12345"));
    assertThatThrownBy(() -> new TensorBoard(folder))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining(folder + " belongs to 12345; name a folder of your own");
  }

  @Test
  void goesOnInAFileOfItsOwnAndShowsNoStepTwice() throws IOException {
    try (var board = new TensorBoard(folder, CLOCK)) {
      board.on(started());
      List.of(10, 20, 30).forEach(update -> board.on(updated(update, 1)));
    }
    try (var board = new TensorBoard(folder, CLOCK)) {
      board.on(new TrainingEvent.Resumed("there", 20));
      board.on(started());
      List.of(30, 40).forEach(update -> board.on(updated(update, 2)));
    }
    assertThat(ReadEvents.files(folder)).hasSize(2);
    assertThat(losses()).containsExactly("10=1.0", "20=1.0", "30=2.0", "40=2.0");
  }

  @Test
  void aRunThatBeginsAnewLeavesNothingOfTheFirstAttempt() throws IOException {
    for (double loss : List.of(1.0, 2.0)) {
      try (var board = new TensorBoard(folder, CLOCK)) {
        board.on(started());
        board.on(updated(10, loss));
      }
    }
    assertThat(losses()).containsExactly("10=2.0");
  }

  @Test
  void stepsThatComeAgainAfterARollbackReplaceTheFirst() throws IOException {
    try (var board = new TensorBoard(folder)) {
      board.on(started());
      List.of(10, 20, 30).forEach(update -> board.on(updated(update, 1)));
      List.of(20, 30, 40).forEach(update -> board.on(updated(update, 2)));
    }
    assertThat(losses()).containsExactly("10=1.0", "20=2.0", "30=2.0", "40=2.0");
  }

  private List<String> losses() throws IOException {
    return ReadEvents.shown(folder).stream()
        .filter(point -> point.tag().equals("train/loss"))
        .map(point -> point.step() + "=" + point.scalar())
        .toList();
  }

  /** The oracle looks through all limits for each number, as the definition does. */
  @Test
  void countsNumbersBetweenTensorFlowsLimits() throws IOException {
    var random = new Random(5);
    var values = new double[3000];
    for (int i = 0; i < values.length; i++) {
      double size = Math.pow(10, random.nextInt(-14, 22)) * random.nextDouble();
      values[i] = i % 7 == 0 ? 0 : (random.nextBoolean() ? size : -size);
    }
    values[1] = 1e-12;
    values[2] = -1e-12;
    values[3] = 1e-12 * 1.1;
    var withWrong = java.util.Arrays.copyOf(values, values.length + 2);
    withWrong[values.length] = Double.NaN;
    withWrong[values.length + 1] = Double.POSITIVE_INFINITY;
    var histogram = new Histogram();
    histogram.add(withWrong);
    try (var board = new TensorBoard(folder)) {
      board.histogram("weights/a", 3, histogram);
    }
    var read = ReadEvents.shown(folder).getFirst().histogram();

    var limits = ReadEvents.reals(read, 6);
    var counts = ReadEvents.reals(read, 7);
    assertThat(limits).hasSameSizeAs(counts).isSorted();
    for (int i = 0; i < limits.length; i++) {
      double from = i == 0 ? Double.NEGATIVE_INFINITY : limits[i - 1];
      double to = limits[i];
      long expected = java.util.Arrays.stream(values).filter(it -> it >= from && it < to).count();
      assertThat(counts[i]).as("[%s, %s)", from, to).isEqualTo(expected);
    }
    assertThat(ReadEvents.real(read, 3)).isEqualTo(values.length);
    assertThat(ReadEvents.real(read, 1)).isEqualTo(java.util.Arrays.stream(values).min().orElse(0));
    assertThat(ReadEvents.real(read, 2)).isEqualTo(java.util.Arrays.stream(values).max().orElse(0));
    assertThat(ReadEvents.real(read, 4)).isEqualTo(sum(values, false));
    assertThat(ReadEvents.real(read, 5)).isEqualTo(sum(values, true));
  }

  private static double sum(double[] values, boolean squared) {
    double sum = 0;
    for (double value : values) {
      sum += squared ? value * value : value;
    }
    return sum;
  }

  @Test
  void refusesAFolderThatIsAFile() throws IOException {
    var file = Files.createFile(folder.resolve("file"));
    assertThatThrownBy(() -> new TensorBoard(file)).isInstanceOf(UncheckedIOException.class);
  }
}
