package dev.flotilla.engine;

/** Changes the parameters from the gradients of a window. */
public interface Update extends AutoCloseable {

  /** Makes one update. */
  void apply(double lr);

  @Override
  void close();
}
