package dev.flotilla.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.arena.Bucket;
import dev.flotilla.collective.Pending;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Collectives start in one order, whatever the order in which gradients and answers come. */
class BucketPipelineTests {

  private static final int SCHEDULES = 500;

  /** Runs a pipeline by hand: what happens next is drawn at random. */
  private static final class Rank {

    private final List<String> started = new ArrayList<>();
    private final Deque<Runnable> starts = new ArrayDeque<>();
    private final Deque<Runnable> arrivals = new ArrayDeque<>();
    private final int[] stages;
    private final int[] arrived;
    private int mostUnderWay;
    private boolean isAwaiting;

    Rank(int... stages) {
      this.stages = stages;
      this.arrived = new int[stages.length];
    }

    List<String> run(Random random) {
      run(
          new BucketPipeline(buckets(stages.length), this::reduce, starts::add, this::await),
          stages.length,
          random);
      return started;
    }

    void run(BucketPipeline pipeline, int buckets, Random random) {
      int complete = 0;
      while (complete < buckets || !starts.isEmpty() || !arrivals.isEmpty()) {
        int choice = random.nextInt(3);
        if (choice == 0 && complete < buckets) {
          complete++;
          pipeline.bucketIsComplete();
        } else if (choice == 1 && !starts.isEmpty()) {
          starts.remove().run();
        } else if (choice == 2 && !arrivals.isEmpty()) {
          arrivals.remove().run();
        }
      }
      assertThat(pipeline.times()).hasSize(buckets);
    }

    List<Supplier<Pending>> steps(int part) {
      return IntStream.range(0, stages[part])
          .<Supplier<Pending>>mapToObj(stage -> () -> start(part, stage))
          .toList();
    }

    private void await(Runnable task) {
      arrivals.add(
          () -> {
            isAwaiting = true;
            task.run();
            isAwaiting = false;
          });
    }

    private List<Stage> reduce(Bucket bucket) {
      return IntStream.range(0, stages[bucket.index()])
          .<Stage>mapToObj(stage -> () -> start(bucket.index(), stage))
          .toList();
    }

    private Pending start(int bucket, int stage) {
      assertThat(isAwaiting).as("an await has started a collective").isFalse();
      assertThat(arrived[bucket]).as("what the stage needs has arrived").isEqualTo(stage);
      started.add(bucket + "." + stage);
      long underWay =
          IntStream.rangeClosed(0, bucket).filter(it -> arrived[it] < stages[it]).count();
      mostUnderWay = Math.max(mostUnderWay, (int) underWay);
      return () -> arrived[bucket]++;
    }
  }

  private static List<Bucket> buckets(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> new Bucket(i, i == count - 1, new Bucket.Range(i, 1), List.of()))
        .toList();
  }

  static Stream<Arguments> plans() {
    return Stream.of(
        Arguments.of(new int[] {1, 1, 1, 1}, "0.0 1.0 2.0 3.0", 2),
        Arguments.of(new int[] {2, 2, 2, 2}, "0.0 1.0 0.1 2.0 1.1 3.0 2.1 3.1", 2),
        Arguments.of(new int[] {2}, "0.0 0.1", 1),
        Arguments.of(new int[] {3, 3, 3}, "0.0 1.0 0.1 2.0 1.1 0.2 2.1 1.2 2.2", 3),
        Arguments.of(new int[] {1, 2, 0, 2, 1}, "0.0 1.0 1.1 3.0 4.0 3.1", 2),
        Arguments.of(new int[] {0, 0}, "", 0));
  }

  @ParameterizedTest
  @MethodSource("plans")
  void theFirstCollectiveOfABucketComesBeforeTheSecondOfTheOneBefore(
      int[] stages, String order, int underWay) {
    int most = 0;
    for (int seed = 0; seed < SCHEDULES; seed++) {
      var rank = new Rank(stages);
      assertThat(String.join(" ", rank.run(new Random(seed)))).isEqualTo(order);
      most = Math.max(most, rank.mostUnderWay);
    }
    assertThat(most).as("buckets under way").isEqualTo(underWay);
  }

  /** A bucket in two parts and one in a single part come like three buckets. */
  @Test
  void partsOfABucketComeLikeBuckets() {
    for (int seed = 0; seed < SCHEDULES; seed++) {
      var flat = new Rank(3, 3, 3);
      var pipeline =
          new BucketPipeline(
              buckets(2),
              bucket ->
                  bucket.index() == 0
                      ? Stage.ofParts(List.of(flat.steps(0), flat.steps(1)))
                      : Stage.ofParts(List.of(flat.steps(2))),
              flat.starts::add,
              flat::await);
      flat.run(pipeline, 2, new Random(seed));
      assertThat(String.join(" ", flat.started)).isEqualTo("0.0 1.0 0.1 2.0 1.1 0.2 2.1 1.2 2.2");
    }
  }

  /** What a bucket consists of is known only once it starts: also behind the last there is more. */
  @Test
  void allPartsOfTheLastBucketStart() {
    for (int seed = 0; seed < SCHEDULES; seed++) {
      var flat = new Rank(1, 1, 1, 1);
      var pipeline =
          new BucketPipeline(
              buckets(2),
              bucket ->
                  bucket.index() == 0
                      ? Stage.ofParts(List.of(flat.steps(0)))
                      : Stage.ofParts(List.of(flat.steps(1), flat.steps(2), flat.steps(3))),
              flat.starts::add,
              flat::await);
      flat.run(pipeline, 2, new Random(seed));
      assertThat(String.join(" ", flat.started)).isEqualTo("0.0 1.0 2.0 3.0");
    }
  }

  @Test
  void aFailureEndsTheWindowWhereItIsAwaited() {
    var direct = new InTurn();
    var pipeline =
        new BucketPipeline(
            buckets(3),
            bucket ->
                List.of(
                    () -> {
                      if (bucket.index() == 1) {
                        throw new IllegalStateException("link down");
                      }
                      return Pending.DONE;
                    }),
            direct,
            direct);
    assertThatThrownBy(pipeline::finish)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("link down");
  }

  @Test
  void whatFailsInAnAwaitIsTheWindowsFailure() {
    var direct = new InTurn();
    Pending failing =
        () -> {
          throw new AssertionError("peer gone");
        };
    var pipeline = new BucketPipeline(buckets(1), _ -> List.of(() -> failing), direct, direct);
    assertThatThrownBy(pipeline::finish).isInstanceOf(AssertionError.class).hasMessage("peer gone");
  }
}
