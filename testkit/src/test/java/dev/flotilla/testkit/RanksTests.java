package dev.flotilla.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.world.Rendezvous;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class RanksTests {

  @Test
  void resultsComeInRankOrder() {
    assertThat(Ranks.call(3, group -> 10 * group.rank())).containsExactly(0, 10, 20);
  }

  @Test
  void allFailuresAreKept() {
    var failure =
        catchThrowableOfType(
            RankFailure.class,
            () ->
                Ranks.run(
                    2,
                    group -> {
                      throw new IllegalStateException("from " + group.rank());
                    }));
    assertThat(failure).hasMessageContaining("from " + failure.rank());
    assertThat(failure.getSuppressed()).hasSize(1);
    assertThat(failure.getSuppressed()[0]).hasMessageContaining("from " + (1 - failure.rank()));
  }

  @Test
  void rankThatHangsIsNamed() {
    assertThatThrownBy(
            () ->
                Ranks.of(2)
                    .within(Duration.ofSeconds(1))
                    .callWorlds(
                        world -> {
                          if (world.rank() == 1) {
                            Thread.sleep(20_000);
                          }
                          return world.rank();
                        }))
        .isInstanceOf(RankFailure.class)
        .hasMessageContaining("rank 1")
        .hasCauseInstanceOf(TimeoutException.class);
  }

  @Test
  void temporaryFolderIsGone() {
    var files =
        Ranks.of(2)
            .callWorlds(
                world -> ((Rendezvous.SharedFile) world.rendezvous()).file().resolveSibling(""));
    assertThat(files).hasSize(2).noneMatch(Files::exists);
  }

  @Test
  void recorderRemembersCallsOfViewsToo() {
    var calls =
        Ranks.call(
            2,
            group -> {
              try (var recorder = new RecordingCollective(group)) {
                recorder.allReduce(torch.ones(5), Reduction.SUM, Traffic.EXCHANGE).await();
                recorder
                    .withTimeout(Duration.ofSeconds(3))
                    .broadcast(torch.ones(2), 0, Traffic.SCALAR)
                    .await();
                assertThat(recorder.calls(Traffic.SCALAR)).hasSize(1);
                return recorder.calls();
              }
            });
    assertThat(calls.get(0))
        .isEqualTo(
            List.of(
                new RecordingCollective.Call(
                    RecordingCollective.Kind.ALL_REDUCE,
                    5,
                    ScalarType.Float,
                    Traffic.EXCHANGE,
                    Duration.ofMinutes(1),
                    0),
                new RecordingCollective.Call(
                    RecordingCollective.Kind.BROADCAST,
                    2,
                    ScalarType.Float,
                    Traffic.SCALAR,
                    Duration.ofSeconds(3),
                    0)));
    assertThat(calls.get(1)).isEqualTo(calls.get(0));
  }
}
