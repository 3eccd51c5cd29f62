package dev.flotilla.model;

import java.util.function.Supplier;
import org.bytedeco.pytorch.Tensor;

/**
 * Products of matrices that recomputation may find instead of multiplying again: they take most of
 * the time of a pass, and for their size all take about the same.
 *
 * <p>Whoever multiplies without a graph, and records a function of its own for it, asks here, and
 * leaves what it gets as it is in the forward pass.
 */
public final class Products {

  /** Gives the products of a piece of code, in the order in which they are asked for. */
  @FunctionalInterface
  public interface Source {

    /**
     * Returns a product, in the innermost scope.
     *
     * @param multiply computes it
     */
    Tensor next(Supplier<Tensor> multiply);
  }

  /** A piece of code whose products come from a source. */
  @FunctionalInterface
  public interface Use extends AutoCloseable {
    @Override
    void close();
  }

  private static final ThreadLocal<Source> SOURCE = ThreadLocal.withInitial(() -> Supplier::get);

  private Products() {}

  /** Returns a product. */
  public static Tensor of(Supplier<Tensor> multiply) {
    return SOURCE.get().next(multiply);
  }

  /** Takes the products of this thread from a source, until it is closed. */
  public static Use from(Source source) {
    var before = SOURCE.get();
    SOURCE.set(source);
    return () -> SOURCE.set(before);
  }
}
