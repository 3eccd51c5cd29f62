package dev.flotilla.optim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.checkpoint.Checkpointer;
import dev.flotilla.checkpoint.Position;
import dev.flotilla.checkpoint.Restorer;
import dev.flotilla.checkpoint.SaveFailures;
import dev.flotilla.checkpoint.SavedCheckpoint;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.state.Stateful;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What an optimizer remembers is found by its place in the arena, whoever holds it. */
class OptimizerMemoryTests {

  private static final int LENGTH = 96;
  private static final Position POSITION = new Position(1, 1);

  @TempDir Path folder;
  private final TensorScope scope = TensorScope.open();
  private final Tensor start = Tensors.zeros(torch.ScalarType.Float, LENGTH);

  @AfterEach
  void close() {
    scope.close();
  }

  static List<Optimizer> optimizers() {
    return List.of(
        new Momentum(0.1, 0.9),
        new Adam(0.01),
        new AdamW(0.01).withAmsgrad(),
        new RmsProp(0.01, 0.9, 1e-6, 0.5, true, 0),
        new Adagrad(0.1, 0.1, 0.1, 1e-10, 0),
        new Lion(0.01),
        new Lamb(0.01),
        new Lars(0.1, 0.01));
  }

  /** Parameters of which some slices are updated. */
  private static final class Rank implements AutoCloseable {

    private final Tensor parameters;
    private final Tensor gradients;
    private final Optimizer.Bound optimizer;

    /**
     * Binds an optimizer.
     *
     * @param groups for each group the bounds of its slices, in pairs
     */
    Rank(Optimizer settings, Tensor start, List<List<Integer>> groups) {
      parameters = start.clone();
      gradients = start.clone();
      optimizer = settings.bind(groups.stream().map(this::group).toList());
    }

    private ParameterGroup group(List<Integer> bounds) {
      List<ParameterGroup.Slice> slices = new ArrayList<>();
      for (int i = 0; i < bounds.size(); i += 2) {
        int offset = bounds.get(i);
        int length = bounds.get(i + 1) - offset;
        slices.add(
            new ParameterGroup.Slice(
                parameters.narrow(0, offset, length), gradients.narrow(0, offset, length), offset));
      }
      return new ParameterGroup(slices, 0);
    }

    void update(Tensor gradient) {
      gradients.copy_(gradient);
      optimizer.update(0.01);
    }

    Stateful shared() {
      return state -> optimizer.remember(state.shared().part("optimizer"));
    }

    Stateful sliced() {
      return state -> optimizer.remember(state.sliced().part("optimizer"));
    }

    @Override
    public void close() {
      optimizer.close();
    }
  }

  private SavedCheckpoint save(List<Stateful> ranks) throws IOException {
    for (int rank = ranks.size() - 1; rank >= 0; rank--) {
      try (var leader =
              new Checkpointer(folder, 0, ranks.size(), 1, "writer", SaveFailures.none());
          var checkpointer =
              new Checkpointer(folder, rank, ranks.size(), 1, "writer", SaveFailures.none())) {
        if (rank == ranks.size() - 1) {
          leader.takeFolder();
          leader.begin(POSITION);
        }
        checkpointer.save(POSITION, "0123456789abcdef", Map.of(), List.of(ranks.get(rank)));
        assertThat(checkpointer.await()).isEmpty();
      }
    }
    return SavedCheckpoint.open(Restorer.candidates(folder).getFirst());
  }

  private static void restore(SavedCheckpoint checkpoint, int rank, int ranks, Stateful part) {
    assertThat(Restorer.restore(checkpoint, rank, ranks, List.of(part))).isEmpty();
  }

  private static void assertEqual(Tensor a, Tensor b) {
    assertThat(a.equal(b)).isTrue();
  }

  @ParameterizedTest
  @MethodSource("optimizers")
  void anotherGroupingGoesOnAsTheFirst(Optimizer settings) throws IOException {
    torch.manual_seed(3);
    try (var plain = new Rank(settings, start, List.of(List.of(0, 64), List.of(64, LENGTH)));
        var other =
            new Rank(
                settings, start, List.of(List.of(16, 32, 80, LENGTH), List.of(0, 16, 32, 80)))) {
      plain.update(torch.randn(LENGTH));
      restore(save(List.of(plain.shared())), 0, 1, other.shared());
      other.parameters.copy_(plain.parameters);
      var gradient = torch.randn(LENGTH);
      plain.update(gradient);
      other.update(gradient);
      assertEqual(other.parameters, plain.parameters);
    }
  }

  @ParameterizedTest
  @MethodSource("optimizers")
  void ranksWithSlicesGoOnAsOneWithout(Optimizer settings) throws IOException {
    torch.manual_seed(4);
    try (var plain = new Rank(settings, start, List.of(List.of(0, LENGTH)));
        var first = new Rank(settings, start, List.of(List.of(0, 40)));
        var second = new Rank(settings, start, List.of(List.of(64, LENGTH), List.of(40, 64)));
        var third = new Rank(settings, start, List.of())) {
      plain.update(torch.randn(LENGTH));
      var checkpoint = save(List.of(plain.shared()));
      var ranks = List.of(first, second, third);
      for (int rank = 0; rank < 3; rank++) {
        restore(checkpoint, rank, 3, ranks.get(rank).sliced());
        ranks.get(rank).parameters.copy_(plain.parameters);
      }
      var gradient = torch.randn(LENGTH);
      plain.update(gradient);
      ranks.forEach(rank -> rank.update(gradient));
      assertEqual(first.parameters.narrow(0, 0, 40), plain.parameters.narrow(0, 0, 40));
      assertEqual(second.parameters.narrow(0, 40, 56), plain.parameters.narrow(0, 40, 56));
    }
  }

  @ParameterizedTest
  @MethodSource("optimizers")
  void oneWithoutGoesOnAsRanksWithSlices(Optimizer settings) throws IOException {
    torch.manual_seed(5);
    try (var plain = new Rank(settings, start, List.of(List.of(0, LENGTH)));
        var first = new Rank(settings, start, List.of());
        var second = new Rank(settings, start, List.of(List.of(0, 48)));
        var third = new Rank(settings, start, List.of(List.of(48, LENGTH)))) {
      var ranks = List.of(first, second, third);
      var gradient = torch.randn(LENGTH);
      ranks.forEach(rank -> rank.update(gradient));
      var checkpoint = save(ranks.stream().map(Rank::sliced).toList());
      restore(checkpoint, 0, 1, plain.shared());
      plain.parameters.narrow(0, 0, 48).copy_(second.parameters.narrow(0, 0, 48));
      plain.parameters.narrow(0, 48, 48).copy_(third.parameters.narrow(0, 48, 48));
      var next = torch.randn(LENGTH);
      plain.update(next);
      ranks.forEach(rank -> rank.update(next));
      assertEqual(plain.parameters.narrow(0, 0, 48), second.parameters.narrow(0, 0, 48));
      assertEqual(plain.parameters.narrow(0, 48, 48), third.parameters.narrow(0, 48, 48));
      // A rank that holds nothing now may have held something then.
      restore(checkpoint, 2, 3, first.sliced());
    }
  }

  /** Earlier versions named what an optimizer remembers by the numbers of groups and tensors. */
  @Test
  void namesOfEarlierVersionsAreRead() throws IOException {
    var velocities = List.of(torch.randn(64), torch.randn(32));
    Stateful before =
        state -> {
          var part = state.shared().part("optimizer").part("velocity");
          part.part("group-0").tensor("0", velocities.getFirst());
          part.part("group-1").tensor("0", velocities.getLast());
        };
    var checkpoint = save(List.of(before));
    var settings = new Momentum(1, 0.5);
    try (var rank = new Rank(settings, start, List.of(List.of(0, 64), List.of(64, LENGTH)))) {
      restore(checkpoint, 0, 1, rank.shared());
      rank.update(start);
      var factor = new Scalar(-0.005);
      assertEqual(rank.parameters.narrow(0, 0, 64), velocities.getFirst().mul(factor));
      assertEqual(rank.parameters.narrow(0, 64, 32), velocities.getLast().mul(factor));
    }
  }
}
