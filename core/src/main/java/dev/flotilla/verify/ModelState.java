package dev.flotilla.verify;

import dev.flotilla.pass.BoundModel;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A copy of everything a model holds, so that every run starts from the same values; a user's own
 * module would otherwise go on where the run before it has ended.
 *
 * @param values numbers by name
 */
record ModelState(Map<String, double[]> values) {

  static ModelState of(BoundModel model) {
    Map<String, double[]> values = new HashMap<>();
    model.state().forEach((name, tensor) -> values.put(name, FlatCopy.of(tensor)));
    return new ModelState(values);
  }

  void restore(BoundModel model) {
    model
        .state()
        .forEach((name, tensor) -> FlatCopy.into(tensor, Objects.requireNonNull(values.get(name))));
  }
}
