package dev.flotilla.strategy.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.arena.Layout;
import dev.flotilla.memory.Precision;
import dev.flotilla.model.Model;
import dev.flotilla.wire.Dtype;
import dev.flotilla.zoo.model.BertBase;
import dev.flotilla.zoo.model.Mlp;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What ranks hold, before anything is allocated. */
class StageMemoryTests {

  /** Bytes of BERT-base's word table, the largest parameter. */
  private static final long TABLE = 30_522L * 768 * Float.BYTES;

  private static StageMemory adam(int stage, Model model, int ranks) {
    var layout = Layout.of(model.parameters(), Precision.FLOAT32);
    return StageMemory.of(stage, model, layout, 2, ranks, Dtype.FP32, Dtype.FP32);
  }

  /** Adam in float32: 16, 8 + 8/N, 4 + 12/N and 16/N bytes, besides what passes. */
  @ParameterizedTest
  @CsvSource({"0, 2, 16", "1, 2, 12", "1, 4, 10", "2, 4, 7", "3, 4, 4"})
  void bertHasTheBytesOfTheFormula(int stage, int ranks, double perParameter) {
    var bert = new BertBase();
    var memory = adam(stage, bert, ranks);
    assertThat(memory.kept() / (double) bert.parameterCount())
        .isCloseTo(perParameter, within(0.001 * perParameter));
    // Two buckets of up to 2 Mi elements, each received, and packed at most.
    assertThat(adam(1, bert, ranks).passing() - TABLE).isBetween(1L << 23, 4L << 23);
    assertThat(adam(0, bert, ranks).passing()).isEqualTo(TABLE);
  }

  /** bf16 parameters and Adam: 2 + 4 + 12/N, 2 + 16/N and 16/N bytes, besides what passes. */
  @ParameterizedTest
  @CsvSource({"0, 4, 16", "1, 2, 12", "1, 4, 9", "2, 4, 6", "3, 4, 4", "1, 1, 18"})
  void halvesHaveTheBytesOfTheFormula(int stage, int ranks, double perParameter) {
    var bert = new BertBase();
    var memory = halves(stage, bert, ranks);
    assertThat(memory.kept() / (double) bert.parameterCount())
        .isCloseTo(perParameter, within(0.001 * perParameter));
  }

  /** What is whole of gradients and parameters has two bytes a number, and buckets have four. */
  @Test
  void whatPassesOfHalvesIsHalf() {
    var bert = new BertBase();
    long table = TABLE / 2;
    assertThat(halves(1, bert, 4).passing() + table).isEqualTo(adam(1, bert, 4).passing());
    assertThat(adam(2, bert, 4).passing() - halves(2, bert, 4).passing() - table)
        .isBetween(table + table / 10, 2 * table);
    assertThat(2 * (halves(3, bert, 4).passing() - halves(2, bert, 4).passing()))
        .isEqualTo(adam(3, bert, 4).passing() - adam(2, bert, 4).passing());
  }

  private static StageMemory halves(int stage, Model model, int ranks) {
    var layout = Layout.of(model.parameters(), Precision.FLOAT32);
    return StageMemory.of(stage, model, layout, 2, ranks, Dtype.FP32, Dtype.BF16);
  }

  /** The word table is shared by the first segment and the last, and larger than any other. */
  @Test
  void whatSegmentsShareIsWholeForLong() {
    var bert = new BertBase();
    long whole = adam(2, bert, 4).passing() - adam(1, bert, 4).passing();
    assertThat(whole).isBetween(TABLE + TABLE / 10, 2 * TABLE);
    assertThat(adam(3, bert, 4).passing() - adam(2, bert, 4).passing()).isBetween(TABLE, 2 * TABLE);
  }

  @Test
  void nothingElsePassesOnOneRank() {
    var mlp = new Mlp(64, List.of(32), 10);
    assertThat(adam(1, mlp, 1).total()).isEqualTo(adam(0, mlp, 1).total());
  }

  @Test
  void theTableHoldsTheStagesThatSettingsTake() {
    assertThat(new Sharding(StageMemory.LAST).stage()).isEqualTo(StageMemory.LAST);
    assertThatThrownBy(() -> new Sharding(StageMemory.LAST + 1)).hasMessageContaining("stage");
  }
}
