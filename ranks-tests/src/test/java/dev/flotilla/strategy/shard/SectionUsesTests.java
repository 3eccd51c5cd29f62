package dev.flotilla.strategy.shard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.arena.Layout;
import dev.flotilla.memory.Precision;
import dev.flotilla.model.Model;
import dev.flotilla.zoo.model.BertTiny;
import dev.flotilla.zoo.model.Mlp;
import java.util.List;
import org.junit.jupiter.api.Test;

class SectionUsesTests {

  private static SectionUses uses(Model model) {
    var layout = Layout.of(model.parameters(), Precision.FLOAT32);
    return new SectionUses(model, layout, layout.segmentsOf(model));
  }

  /** Five linear segments; the last but one and the one before it are the largest two. */
  @Test
  void smallSegmentsAreUnderWayTogether() {
    var uses = uses(new Mlp(16, List.of(16, 16, 64, 64), 10));
    assertThat(uses.segments()).isEqualTo(5);
    // 16·16 + 16 twice, 16·64 + 64, 64·64 + 64, 64·10 + 10 elements: the room is 5,248.
    assertThat(uses.reach()).containsExactly(2, 2, 3, 4, 4);
  }

  @Test
  void whatTiedSegmentsShareStaysUntilTheLast() {
    var bert = new BertTiny();
    var uses = uses(bert);
    int last = uses.segments() - 1;
    int table =
        uses.of(0).stream()
            .filter(section -> uses.isUsedBy(section, last))
            .findFirst()
            .orElseThrow();
    assertThat(uses.isNeeded(table, 1, 1, true)).isTrue();
    assertThat(uses.isNeeded(table, 1, 1, false)).isTrue();
    int layer = uses.of(1).getFirst();
    assertThat(uses.isNeeded(layer, 1, 1, true)).isTrue();
    assertThat(uses.isNeeded(layer, 2, 2, true)).isFalse();
    assertThat(uses.of(-1)).isEmpty();
    assertThat(uses.of(last + 1)).isEmpty();
  }

  @Test
  void theLastSectionsStayAsFarAsTheyHaveRoom() {
    var uses = uses(new Mlp(16, List.of(16, 16, 64, 64), 10));
    assertThat(uses.staying(0)).isEmpty();
    assertThat(uses.staying(700)).containsExactly(4);
    assertThat(uses.staying(1_000)).containsExactlyInAnyOrder(1, 4);
  }
}
