package dev.flotilla.strategy.compress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.memory.NativeView;
import dev.flotilla.wire.Dtype;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Compares compressed steps of several ranks with the formulas in float64, by Java's loops and by
 * the device's kernels.
 */
class BucketCompressorTests {

  private static final int LENGTH = 4_000;
  private static final double LR = 0.1;

  /** Where the arithmetic is done. */
  enum Where {
    CPU,
    DEVICE
  }

  /** The ranks of a job, whose messages are passed on by hand. */
  private static final class Job implements AutoCloseable {
    private final List<Playground> grounds = new ArrayList<>();
    private final List<BucketCompressor> buckets = new ArrayList<>();

    Job(Where where, int ranks, Dgc settings, Rule rule, double decay) {
      for (int rank = 0; rank < ranks; rank++) {
        var ground = new Playground(LENGTH);
        Playground.randomize(List.of(ground.weight()), 77, 1);
        grounds.add(ground);
        double ownDecay = decay / ranks;
        buckets.add(
            where == Where.CPU
                ? new CpuBucket(settings, rule, ground.fields((float) ownDecay), LENGTH, ranks)
                : new DeviceBucket(settings, rule, ground.deviceField(ownDecay), LENGTH, ranks));
      }
    }

    void step(double sparsity, double factor) {
      buckets.forEach(bucket -> bucket.sparsity(sparsity));
      buckets.forEach(bucket -> bucket.compress(factor));
      for (var target : buckets) {
        long offset = 0;
        for (var source : buckets) {
          var message = NativeView.of(source.message());
          MemorySegment.copy(
              message, 0, NativeView.of(target.messages()), offset, message.byteSize());
          offset += message.byteSize();
        }
        target.add();
        target.apply(LR);
      }
    }

    @Override
    public void close() {
      buckets.forEach(BucketCompressor::close);
      grounds.forEach(Playground::close);
    }
  }

  /** The paper's recurrences in float64; with Nesterov its u is m times the classical velocity. */
  private static final class Oracle {
    private final int ranks;
    private final double momentum;
    private final boolean nesterov;
    private final double decay;
    private final double[][] u;
    private final double[][] v;
    private final double[] w;

    Oracle(int ranks, double momentum, boolean nesterov, double decay, float[] weights) {
      this.ranks = ranks;
      this.momentum = momentum;
      this.nesterov = nesterov;
      this.decay = decay;
      u = new double[ranks][LENGTH];
      v = new double[ranks][LENGTH];
      w = IntStream.range(0, LENGTH).mapToDouble(i -> weights[i]).toArray();
    }

    void step(float[][] gradients, double factor, int k, List<Integer> compressed) {
      var shared = new double[LENGTH];
      for (int rank = 0; rank < ranks; rank++) {
        for (int i : compressed) {
          double h = factor * gradients[rank][i] + decay / ranks * w[i];
          if (nesterov) {
            u[rank][i] = momentum * (u[rank][i] + h);
            v[rank][i] += u[rank][i] + h;
          } else {
            u[rank][i] = momentum * u[rank][i] + h;
            v[rank][i] += u[rank][i];
          }
        }
        var own = v[rank];
        var chosen =
            compressed.stream()
                .sorted(Comparator.comparingDouble(i -> -Math.abs(own[i])))
                .limit(k)
                .toList();
        for (int i : chosen) {
          shared[i] += own[i];
          own[i] = 0;
          u[rank][i] = 0;
        }
      }
      for (int i = 0; i < LENGTH; i++) {
        w[i] -= LR * shared[i];
      }
    }
  }

  private static List<Integer> compressed(Job job) {
    return job.grounds.getFirst().fields(0).stream()
        .flatMap(field -> IntStream.range(field.start(), field.start() + field.length()).boxed())
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    "CPU, 2, 0.9, false, 0",
    "CPU, 3, 0.9, false, 0.01",
    "CPU, 2, 0.9, true, 0",
    "CPU, 4, 0.5, true, 0.01",
    "CPU, 2, 0, false, 0.01",
    "DEVICE, 2, 0.9, false, 0",
    "DEVICE, 3, 0.9, false, 0.01",
    "DEVICE, 2, 0.9, true, 0",
    "DEVICE, 4, 0.5, true, 0.01",
    "DEVICE, 2, 0, false, 0.01",
  })
  void manyStepsFollowTheFormulas(
      Where where, int ranks, double momentum, boolean nesterov, double decay) {
    var settings = new Dgc().selecting(Selection.EXACT);
    try (var job = new Job(where, ranks, settings, new Rule(momentum, nesterov, true), decay)) {
      var weights = Playground.copy(job.grounds.getFirst().weight());
      var oracle = new Oracle(ranks, momentum, nesterov, decay, weights);
      var indices = compressed(job);
      for (int step = 0; step < 25; step++) {
        double sparsity = step < 10 ? 0.9 : 0.99;
        var gradients = gradients(job, step);
        oracle.step(gradients, 0.25, Ramp.kept(indices.size(), sparsity), indices);
        job.step(sparsity, 0.25);
      }
      assertClose(job, oracle, nesterov ? momentum : 1);
    }
  }

  private static float[][] gradients(Job job, int step) {
    var all = new float[job.grounds.size()][];
    for (int rank = 0; rank < all.length; rank++) {
      var gradient = job.grounds.get(rank).gradient();
      Playground.randomize(List.of(gradient), 1000L * step + rank, 0.1);
      all[rank] = Playground.copy(gradient);
    }
    return all;
  }

  private static void assertClose(Job job, Oracle oracle, double paperOverClassical) {
    for (int rank = 0; rank < job.grounds.size(); rank++) {
      var ground = job.grounds.get(rank);
      var u = Playground.copy(ground.velocity());
      var v = Playground.copy(ground.residual());
      var w = Playground.copy(ground.weight());
      for (int i : compressed(job)) {
        assertThat(u[i] * paperOverClassical).isCloseTo(oracle.u[rank][i], within(1e-5));
        assertThat((double) v[i]).isCloseTo(oracle.v[rank][i], within(1e-5));
        assertThat((double) w[i]).isCloseTo(oracle.w[i], within(1e-5));
      }
      assertThat(w).isEqualTo(Playground.copy(job.grounds.getFirst().weight()));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "CPU, FP32, INT32, SAMPLED",
    "CPU, FP32, PACKED, EXACT",
    "CPU, FP16, INT32, EXACT",
    "CPU, FP16, PACKED, SAMPLED",
    "DEVICE, FP32, INT32, SAMPLED",
    "DEVICE, FP32, PACKED, EXACT",
    "DEVICE, FP16, INT32, EXACT",
    "DEVICE, FP16, PACKED, SAMPLED",
  })
  void whatIsSentAndWhatIsKeptIsWhatThereWas(
      Where where, Dtype values, IndexFormat indices, Selection selection) {
    var settings = new Dgc().selecting(selection).sending(values, indices);
    var rule = new Rule(0.9, false, true);
    try (var with = new Job(where, 1, settings, rule, 0);
        var without = new Job(where, 1, new Dgc(), rule, 0)) {
      for (int step = 0; step < 8; step++) {
        copyState(with, without);
        gradients(with, step);
        gradients(without, step);
        // Without a message, the residual after correction is all there was.
        correctOnly(without, rule);
        var there = Playground.copy(without.grounds.getFirst().residual());
        with.buckets.getFirst().sparsity(0.98);
        with.buckets.getFirst().compress(1);
        var kept = Playground.copy(with.grounds.getFirst().residual());
        var sent = sent(with);
        int differing = 0;
        for (int i : compressed(with)) {
          assertThat(sent[i] + kept[i]).isEqualTo(there[i]);
          differing += sent[i] != 0 ? 1 : 0;
        }
        assertThat(differing).isBetween(60, 79);
      }
    }
  }

  private static void copyState(Job from, Job to) {
    to.grounds.getFirst().velocity().copyFrom(from.grounds.getFirst().velocity());
    to.grounds.getFirst().residual().copyFrom(from.grounds.getFirst().residual());
  }

  private static void correctOnly(Job job, Rule rule) {
    var nobody = new Candidates();
    for (var field : job.grounds.getFirst().fields(0)) {
      new Correction((float) rule.momentum(), rule.nesterov())
          .apply(field, 1, Selector.NO_THRESHOLD, true, nobody);
    }
  }

  /** Reads the message as every rank does, into a gradient that is clear. */
  private static float[] sent(Job job) {
    var bucket = job.buckets.getFirst();
    job.grounds.getFirst().gradient().fill((byte) 0);
    NativeView.of(bucket.messages()).copyFrom(NativeView.of(bucket.message()));
    bucket.add();
    var sent = Playground.copy(job.grounds.getFirst().gradient());
    job.grounds.getFirst().gradient().fill((byte) 0);
    return sent;
  }

  @ParameterizedTest
  @EnumSource
  void ranksThatStartAlikeStayAlikeToTheBit(Where where) {
    for (int ranks = 2; ranks <= 4; ranks++) {
      try (var job = new Job(where, ranks, new Dgc(), new Rule(0.9, false, true), 1e-3)) {
        for (int step = 0; step < 50; step++) {
          gradients(job, step);
          job.step(step < 5 ? 0.75 : 0.99, 1);
        }
        var first = Playground.copy(job.grounds.getFirst().weight());
        for (var ground : job.grounds) {
          assertThat(Playground.copy(ground.weight())).isEqualTo(first);
        }
      }
    }
  }

  /** Everything is sent at once, so that only the masking tells whether there is a momentum. */
  @ParameterizedTest
  @CsvSource({"CPU, true", "CPU, false", "DEVICE, true", "DEVICE, false"})
  void sparsityZeroIsMomentumWithoutMaskingAndPlainDescentWithIt(Where where, boolean masks) {
    var rule = new Rule(0.9, false, masks);
    try (var job = new Job(where, 2, new Dgc(), rule, 0)) {
      var w = Playground.copy(job.grounds.getFirst().weight());
      var expected = IntStream.range(0, LENGTH).mapToDouble(i -> w[i]).toArray();
      var velocity = new double[LENGTH];
      for (int step = 0; step < 10; step++) {
        var gradients = gradients(job, step);
        job.step(0, 0.5);
        for (int i : compressed(job)) {
          double g = 0.5 * gradients[0][i] + 0.5 * gradients[1][i];
          velocity[i] = (masks ? 0 : 0.9) * velocity[i] + g;
          expected[i] -= LR * velocity[i];
        }
      }
      var actual = Playground.copy(job.grounds.getFirst().weight());
      for (int i : compressed(job)) {
        assertThat((double) actual[i]).isCloseTo(expected[i], within(1e-5));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void manyEntriesPerRankAreAppliedLikeFew(Where where) {
    var random = new SplittableRandom(4);
    try (var dense = new Job(where, 3, new Dgc(), new Rule(0, false, true), 0)) {
      var before = Playground.copy(dense.grounds.getFirst().weight());
      var sums = new double[LENGTH];
      for (var ground : dense.grounds) {
        Playground.fill(ground.gradient(), _ -> random.nextInt(1, 100));
        var gradient = Playground.copy(ground.gradient());
        IntStream.range(0, LENGTH).forEach(i -> sums[i] += gradient[i]);
      }
      dense.step(0, 1);
      var after = Playground.copy(dense.grounds.getFirst().weight());
      for (int i : compressed(dense)) {
        assertThat((double) after[i]).isCloseTo(before[i] - LR * sums[i], within(1e-4));
      }
    }
  }

  /** What lies between the slices belongs to small parameters, which another update moves. */
  @ParameterizedTest
  @EnumSource
  void smallParametersInBetweenKeepTheirVelocity(Where where) {
    try (var job = new Job(where, 2, new Dgc(), new Rule(0.9, false, true), 0.1)) {
      var ground = job.grounds.getFirst();
      Playground.fill(ground.velocity(), i -> 1 + i);
      int between = LENGTH / 2;
      float weight = Playground.copy(ground.weight())[between];

      for (int step = 0; step < 5; step++) {
        gradients(job, step);
        job.step(0.9, 0.5);
      }

      assertThat(Playground.copy(ground.velocity())[between]).isEqualTo(1 + between);
      assertThat(Playground.copy(ground.residual())[between]).isZero();
      assertThat(Playground.copy(ground.weight())[between]).isEqualTo(weight);
    }
  }

  @ParameterizedTest
  @CsvSource({"SAMPLED, 0.99", "EXACT, 0.99", "EXACT, 0.5"})
  void aDeviceChoosesWhatTheCpuChooses(Selection selection, double sparsity) {
    var settings = new Dgc().selecting(selection);
    var rule = new Rule(0.9, false, true);
    try (var here = new Job(Where.CPU, 2, settings, rule, 0);
        var there = new Job(Where.DEVICE, 2, settings, rule, 0)) {
      for (int step = 0; step < 20; step++) {
        gradients(here, step);
        gradients(there, step);
        here.step(sparsity, 1);
        there.step(sparsity, 1);
        assertThat(there.buckets.getFirst().received())
            .isEqualTo(here.buckets.getFirst().received());
      }
      assertThat(Playground.copy(there.grounds.getFirst().weight()))
          .isEqualTo(Playground.copy(here.grounds.getFirst().weight()));
    }
  }
}
