package dev.flotilla.checkpoint;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the tensor of a model that a name in a file means.
 *
 * <p>Takes away {@code module.}, which data-parallel wrappers of Python add; adds or takes away
 * {@code bert.}; reads the old {@code gamma} and {@code beta} of normalisations as {@code weight}
 * and {@code bias}; and knows the other names of tied parameters.
 *
 * @param known names of the model's tensors
 * @param aliases other names of tied parameters, each with the parameter's own
 */
record WeightNames(Set<String> known, Map<String, String> aliases) {

  private static final String WRAPPER = "module.";
  private static final String BERT = "bert.";

  /**
   * The tensor that a name means.
   *
   * @param name its name in the model
   * @param isAlias whether the file calls it by another name of a tied parameter
   */
  record Meaning(String name, boolean isAlias) {}

  Optional<Meaning> meaningOf(String published) {
    for (String candidate : candidates(published)) {
      if (known.contains(candidate)) {
        return Optional.of(new Meaning(candidate, false));
      }
      var tied = aliases.get(candidate);
      if (tied != null && known.contains(tied)) {
        return Optional.of(new Meaning(tied, true));
      }
    }
    return Optional.empty();
  }

  private static List<String> candidates(String published) {
    String plain =
        published.startsWith(WRAPPER) ? published.substring(WRAPPER.length()) : published;
    List<String> candidates = new ArrayList<>();
    for (String name : List.of(plain, modern(plain))) {
      candidates.add(name);
      candidates.add(BERT + name);
      if (name.startsWith(BERT)) {
        candidates.add(name.substring(BERT.length()));
      }
    }
    return candidates;
  }

  private static String modern(String name) {
    return name.replaceFirst("\\.gamma$", ".weight").replaceFirst("\\.beta$", ".bias");
  }

  /** Tells whether a file may hold a tensor that the model does without: positions 0, 1, 2, … */
  static boolean isNeedless(String published) {
    return published.endsWith("embeddings.position_ids");
  }

  /** Tells whether a model may do without a tensor in old files: a counter that only counts. */
  static boolean isOptional(String name) {
    return name.endsWith(".num_batches_tracked");
  }
}
