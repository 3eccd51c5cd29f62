package dev.flotilla.data;

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

  /** Opens the training samples. */
  Dataset train();

  /** Opens the test samples. */
  Dataset test();
}
