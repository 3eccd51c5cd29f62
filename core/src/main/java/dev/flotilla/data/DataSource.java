package dev.flotilla.data;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A named pair of training and test data, as a recipe chooses it.
 *
 * <p>Implementations are settings records listed in the catalogue.
 */
public interface DataSource {

  /**
   * Checks that the data can be read, without loading it and without native code.
   *
   * @throws dev.flotilla.settings.ConfigException if a folder or file is missing or malformed
   */
  void check();

  /**
   * Returns what a sample looks like, where that is known without reading them all; asked for after
   * {@link #check}.
   */
  default Optional<SampleForm> form() {
    return Optional.empty();
  }

  /**
   * Returns the number of training samples, where that is known without reading them all and a
   * batch is counted in samples; asked for after {@link #check}.
   */
  default OptionalInt trainingSize() {
    return OptionalInt.empty();
  }

  /**
   * Returns the names of the classes in the order of their numbers; empty where they have none.
   * Asked for after {@link #check}.
   */
  default List<String> classNames() {
    return List.of();
  }

  /**
   * Returns how the numbers of a sample are made of a pixel x, for whoever has to do the same where
   * the model is used; empty where that is not known.
   */
  default String normalization() {
    return "";
  }

  /** Returns what people should hear of how the data was read; asked for after {@link #check}. */
  default List<String> notes() {
    return List.of();
  }

  /** Opens the training samples. */
  Dataset train();

  /** Opens the test samples. */
  Dataset test();

  /** Opens the test samples for somebody who never looks at their targets, which may be missing. */
  default Dataset unlabelled() {
    return test();
  }
}
