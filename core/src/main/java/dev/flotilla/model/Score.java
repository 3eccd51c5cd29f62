package dev.flotilla.model;

import dev.flotilla.memory.LateCopy;
import dev.flotilla.memory.NativeView;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.stream.LongStream;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Right answers of a classifier: samples whose best guess is right, samples whose five best guesses
 * hold the right one, and samples asked.
 *
 * <p>On a GPU they may still be counted while the host goes on. Whoever asks for their number waits
 * for it; a score that nobody asks is {@linkplain #drop dropped}.
 */
public final class Score {

  /** The score of objectives that have none. */
  public static final Score NONE = new Score(0, 0, 0);

  private final long top1;
  private final long top5;
  private final long total;
  private final @Nullable Hits counted;

  /**
   * Makes one of numbers that are known.
   *
   * @param top1 samples whose best guess is right
   * @param top5 samples whose five best guesses hold the right one
   * @param total samples asked; 0 when the objective has no such notion
   */
  public Score(long top1, long top5, long total) {
    this(top1, top5, total, null);
  }

  private Score(long top1, long top5, long total, @Nullable Hits counted) {
    this.top1 = top1;
    this.top5 = top5;
    this.total = total;
    this.counted = counted;
  }

  /**
   * Makes one of what a device may still be counting.
   *
   * @param hits how often the best guess was right, the second best, and so on; as long integers
   */
  static Score of(Tensor hits, long total) {
    return new Score(0, 0, total, new Hits(hits));
  }

  /** What a device has found, once it has. */
  private static final class Hits {

    private @Nullable LateCopy copy;
    private long @Nullable [] numbers;

    Hits(Tensor hits) {
      var begun = new LateCopy(hits);
      begun.start();
      copy = begun;
      if (!hits.is_cuda()) {
        read();
      }
    }

    private long[] read() {
      if (numbers != null) {
        return numbers;
      }
      if (copy == null) {
        throw new IllegalStateException("the score was dropped before it was asked for");
      }
      var found = NativeView.of(copy.await()).toArray(ValueLayout.JAVA_LONG);
      numbers = found;
      drop();
      return found;
    }

    private void drop() {
      if (copy != null) {
        copy.close();
        copy = null;
      }
    }
  }

  /** Returns the samples whose best guess is right. */
  public long top1() {
    return top1 + (counted == null ? 0 : counted.read()[0]);
  }

  /** Returns the samples whose five best guesses hold the right one. */
  public long top5() {
    return top5 + (counted == null ? 0 : LongStream.of(counted.read()).sum());
  }

  /** Returns the samples asked. */
  public long total() {
    return total;
  }

  /**
   * Returns the sum of both. Only this one is waited for: it was counted before the other, which
   * belongs to the sum from now on.
   */
  public Score plus(Score other) {
    return new Score(top1() + other.top1, top5() + other.top5, total + other.total, other.counted);
  }

  /** Frees what nobody will ask for. */
  public void drop() {
    if (counted != null) {
      counted.drop();
    }
  }

  /** Returns the fraction of right best guesses, or NaN without samples. */
  public double acc1() {
    return total == 0 ? Double.NaN : (double) top1() / total;
  }

  /** Returns the fraction of right answers among five guesses, or NaN without samples. */
  public double acc5() {
    return total == 0 ? Double.NaN : (double) top5() / total;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Score score
        && top1() == score.top1()
        && top5() == score.top5()
        && total == score.total;
  }

  @Override
  public int hashCode() {
    return Objects.hash(top1(), top5(), total);
  }

  @Override
  public String toString() {
    return "%d and %d of %d".formatted(top1(), top5(), total);
  }
}
