package dev.flotilla.data;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Data whose samples are made by what was learned on training data, such as means and categories.
 * It is saved with the model, so that whatever the model sees later is made in the same way.
 *
 * <p>Its settings have a key {@code preprocessing}.
 */
public interface PreprocessedData extends DataSource {

  /** Returns the file with what another run has learned; null where this data learns itself. */
  @Nullable Path preprocessing();

  /** Returns what has been learned, as maps, lists, texts and numbers. */
  Map<String, Object> learned();
}
