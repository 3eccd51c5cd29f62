package dev.flotilla.zoo.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.data.Batch;
import dev.flotilla.data.BatchSource;
import dev.flotilla.data.DataSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.data.RankShard;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** All data is loaded ahead of training, and is the same as if it were not. */
final class LoadingAheadTests {

  @TempDir static Path folder;

  @BeforeAll
  static void writeFiles() throws IOException {
    var images = new byte[20 * 3073];
    new Random(1).nextBytes(images);
    IntStream.range(0, 20).forEach(i -> images[i * 3073] = (byte) (i % 10));
    Files.write(folder.resolve("data_batch_1.bin"), images);
    Files.write(folder.resolve("test_batch.bin"), images);
    Files.writeString(
        folder.resolve("vocab.txt"), "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\nsat\n");
    Files.writeString(folder.resolve("text.txt"), "the cat sat\nthe cat\ncat sat\n\n".repeat(30));
    var lines = "2 5 6 7 3;0 0 0 0 0;0 1 2 3 4;1\n2 6 3;0 0 0;0 1 2;0\n".repeat(15);
    Files.writeString(folder.resolve("train.txt"), lines);
    Files.writeString(folder.resolve("val.txt"), lines);
  }

  static Stream<DataSource> sources() {
    return Stream.of(
        new Cifar10(folder, true),
        new BertLines(folder, null, TextTask.PRETRAINING, 2, 8, TooLong.ERROR, 0.3, false),
        new BertLines(folder, null, TextTask.PRETRAINING, 2, 8, TooLong.ERROR, 0.3, true),
        new PlainText(
            folder.resolve("text.txt"), null, 12, true, false, true, true, 0.3, 0.1, false),
        new SyntheticImages(1, 8, 3, 20, 5),
        new SyntheticTokens(50, 9, 20, 5, TextTask.PRETRAINING, 2),
        new Digits());
  }

  @ParameterizedTest
  @MethodSource("sources")
  void theBatchesAreThoseOfTheTrainingThread(DataSource source) {
    Dataset data = source.train();
    assertThat(data.loadingThreads()).isPositive();
    var shard = BatchSource.global(data, data.countsTokens() ? 40 : 6).shuffled(5).epoch(3, 1, 2);
    try (var loader = shard.loader()) {
      assertThat(texts(shard, loader::load))
          .isEqualTo(texts(shard, shard::load))
          .hasSizeGreaterThan(2);
    }
  }

  private static List<String> texts(RankShard shard, LongFunction<Batch> load) {
    List<String> texts = new ArrayList<>();
    for (long i = 0; i < Math.min(20, shard.batches()); i++) {
      try (var _ = TensorScope.open()) {
        var batch = load.apply(i);
        texts.add(
            Stream.concat(batch.inputs().stream(), Stream.of(batch.targets()))
                .map(LoadingAheadTests::text)
                .collect(Collectors.joining("|")));
      }
    }
    return texts;
  }

  private static String text(Tensor tensor) {
    return Arrays.toString(NativeView.of(tensor).toArray(ValueLayout.JAVA_BYTE));
  }
}
