package dev.flotilla.zoo.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.Tensor;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class BertLinesTests {

  private static final String GOOD = "1 5 6 2 7 8 2;0 0 0 0 1 1 1;0 1 2 3 4 5 6;1";
  private static final String SHORT = "1 9 2;0 0 0;0 1 2;0";

  @TempDir Path folder;

  @BeforeEach
  void writeFiles() throws IOException {
    Files.writeString(
        folder.resolve("vocab.txt"), "[PAD]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\ne\nf\n");
    write(GOOD + "\n" + SHORT + "\n");
    Files.writeString(folder.resolve("val.txt"), GOOD + "\n");
  }

  private void write(String lines) throws IOException {
    Files.writeString(folder.resolve("train.txt"), lines);
  }

  private BertLines data(TextTask task) {
    return new BertLines(folder, null, task, 3, 8, TooLong.ERROR, 0.15, false);
  }

  private static long[] values(Tensor tensor) {
    return NativeView.of(tensor).toArray(ValueLayout.JAVA_LONG);
  }

  @Test
  void padsToTheLongestOfTheBatch() {
    try (var _ = TensorScope.open()) {
      Batch batch = data(TextTask.CLASSIFICATION).train().load(new int[] {1, 0});
      assertThat(batch.inputs()).hasSize(4);
      assertThat(values(batch.inputs().get(0)))
          .containsExactly(1, 9, 2, 0, 0, 0, 0, 1, 5, 6, 2, 7, 8, 2);
      assertThat(values(batch.inputs().get(1)))
          .containsExactly(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1);
      assertThat(values(batch.inputs().get(3)))
          .containsExactly(1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1);
      assertThat(values(batch.targets())).containsExactly(0, 1);
      Batch alone = data(TextTask.CLASSIFICATION).train().load(new int[] {1});
      assertThat(alone.inputs().getFirst().shape()).containsExactly(1, 3);
    }
  }

  @Test
  void masksAFunctionOfSeedEpochAndSample() {
    try (var _ = TensorScope.open()) {
      var train = data(TextTask.PRETRAINING).train();
      Batch one = train.load(new int[] {0}, 3, 4);
      Batch both = data(TextTask.PRETRAINING).train().load(new int[] {1, 0}, 3, 4);
      Tensor second = both.inputs().getFirst().narrow(0, 1, 1).contiguous();
      assertThat(values(second)).isEqualTo(values(one.inputs().getFirst()));
      long distinct =
          IntStream.range(0, 40)
              .mapToObj(epoch -> values(train.load(new int[] {0}, 3, epoch).inputs().getLast()))
              .map(java.util.Arrays::toString)
              .distinct()
              .count();
      assertThat(distinct).isGreaterThan(4);
      assertThat(values(train.load(new int[] {0}).inputs().getFirst()))
          .isEqualTo(values(train.load(new int[] {0}).inputs().getFirst()));
    }
  }

  @Test
  void marksTheMaskedPlacesAndKeepsWhatWasThere() {
    long[] original = {1, 5, 6, 2, 7, 8, 2};
    try (var _ = TensorScope.open()) {
      var train = data(TextTask.PRETRAINING).train();
      for (int epoch = 0; epoch < 50; epoch++) {
        Batch batch = train.load(new int[] {0}, 1, epoch);
        long[] places = values(batch.inputs().get(4));
        long[] targets = values(batch.targets());
        long[] seen = values(batch.inputs().getFirst());
        assertThat(targets[0]).as("a true second sentence").isZero();
        assertThat(places.length).isPositive().isEqualTo(targets.length - 1);
        for (int i = 0; i < places.length; i++) {
          assertThat(places[i]).isIn(1L, 2L, 4L, 5L);
          assertThat(targets[i + 1]).isEqualTo(original[(int) places[i]]);
          seen[(int) places[i]] = original[(int) places[i]];
        }
        assertThat(seen).isEqualTo(original);
      }
    }
  }

  @Test
  void masksEightyTenTen() {
    var masking = new Masking(1000, 4, 0.15, new int[] {0, 2, 3});
    int[] tokens = IntStream.range(0, 200_000).map(i -> 5 + i % 900).toArray();
    var masked = masking.apply(tokens, new SampleRandom(1, 2, 3));
    double count = masked.positions().length;
    long asMask = IntStream.of(masked.positions()).filter(i -> masked.tokens()[i] == 4).count();
    long kept =
        IntStream.of(masked.positions()).filter(i -> masked.tokens()[i] == tokens[i]).count();
    assertThat(count / tokens.length).isBetween(0.146, 0.154);
    assertThat(asMask / count).isBetween(0.79, 0.81);
    assertThat(kept / count).isBetween(0.09, 0.11);
  }

  @Test
  void findsNothingToMaskInSpecialTokensAlone() {
    var masking = new Masking(10, 3, 0.15, new int[] {0, 1, 2});
    assertThat(masking.apply(new int[] {1, 2, 2}, new SampleRandom(1, 1, 1)).positions()).isEmpty();
    assertThat(masking.apply(new int[] {1, 7, 2}, new SampleRandom(1, 1, 1)).positions())
        .containsExactly(1);
  }

  @Test
  void readsTheFilesThatTrainTxtNames() throws IOException {
    Files.writeString(folder.resolve("part-0"), GOOD + "\n");
    Files.writeString(folder.resolve("part-1"), SHORT + "\n" + GOOD + "\n");
    write("part-0\npart-1\n");
    assertThat(data(TextTask.PRETRAINING).train().size()).isEqualTo(3);
  }

  @Test
  void countsTokensForBatchesInTokens() {
    var data = new BertLines(folder, null, TextTask.PRETRAINING, 2, 8, TooLong.ERROR, 0.15, true);
    assertThat(data.train().countsTokens()).isTrue();
    assertThat(data.train().tokens(0)).isEqualTo(7);
    assertThat(data.train().tokens(1)).isEqualTo(3);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          1 5 2;0 0 0;0 1 2              | expected 4 fields (token ids;sentence ids;position ids;label), but found 3
          1 5 2;0 0;0 1 2;1              | expected as many sentence ids and position ids as the 3 token ids, but found 2 and 3
          1 10 2;0 0 0;0 1 2;1           | expected a number from 0 to 9 at position 1 of the token ids, but found '10'
          1 x 2;0 0 0;0 1 2;1            | expected a number from 0 to 9 at position 1 of the token ids, but found 'x'
          1 5 2;0 3 0;0 1 2;1            | expected a number from 0 to 1 at position 1 of the sentence ids, but found '3'
          1 5 2;0 0 0;0 1 2;2            | expected a label from 0 to 1, but found 2
          1 4 4 4 4 4 4 4 2;0 0 0 0 0 0 0 0 0;0 1 2 3 4 5 6 7 8;1 | the sequence has 9 tokens, more than max_seq_len 8
          """)
  void namesFileAndLineOfABadOne(String line, String message) throws IOException {
    write(GOOD + "\n" + line + "\n");
    assertThatThrownBy(data(TextTask.PRETRAINING)::check)
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("train.txt, line 2: " + message);
  }

  @Test
  void namesAClassOutOfRange() throws IOException {
    write("1 5 2;0 0 0;0 1 2;3\n");
    assertThatThrownBy(data(TextTask.CLASSIFICATION)::check)
        .hasMessageContaining("train.txt, line 1: expected a label from 0 to 2, but found 3");
  }

  @Test
  void truncatesWhereAsked() throws IOException {
    write("1 4 4 4 4 4 4 4 2;0 0 0 0 0 0 0 0 0;0 1 2 3 4 5 6 7 8;1\n");
    var data =
        new BertLines(folder, null, TextTask.CLASSIFICATION, 2, 8, TooLong.TRUNCATE, 0.15, false);
    try (var _ = TensorScope.open()) {
      assertThat(values(data.train().load(new int[] {0}).inputs().getFirst()))
          .containsExactly(1, 4, 4, 4, 4, 4, 4, 2);
    }
  }

  @Test
  void namesAVocabularyWithoutMask() throws IOException {
    Files.writeString(folder.resolve("vocab.txt"), "[PAD]\n[CLS]\n[SEP]\na\n");
    assertThatThrownBy(data(TextTask.PRETRAINING)::check)
        .hasMessageContaining("vocab.txt: holds 4 tokens, but no [MASK]");
  }
}
