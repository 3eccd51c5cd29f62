package dev.flotilla.config;

import dev.flotilla.data.DataSource;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.train.Every;
import dev.flotilla.train.LoopSettings;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * When and how the test data is scored.
 *
 * @param every when
 * @param batch samples at once
 * @param also other data whose test samples are scored too, by name; null for none
 */
public record Eval(
    @Setting(
            doc = "When to score the test data: epoch, end, or a number of updates.",
            def = "epoch")
        Every every,
    @Setting(doc = "Samples scored at once.", def = "256") int batch,
    @Setting(
            doc =
                "Other data to score as well, by name; their values are called NAME/loss and so"
                    + " on.",
            def = "null")
        @Nullable SequencedMap<String, DataSource> also) {

  /** Checks batch and names. */
  public Eval {
    var check = Check.that(batch >= 1, "batch", "must be at least 1", batch);
    if (also != null) {
      also = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(also));
      for (var name : also.keySet()) {
        check.and(LoopSettings.isName(name), "also", LoopSettings.NAME_RULE, "'" + name + "'");
      }
    }
    check.orThrow();
  }

  /** Returns the settings of a loop with what it evaluates, and when. */
  LoopSettings loop(LoopSettings settings, DataSource data) {
    var loop = settings.evaluateOn(data.test()).each(every).inBatchesOf(batch);
    for (var other : others().entrySet()) {
      loop = loop.also(other.getKey(), other.getValue().test());
    }
    return loop;
  }

  /** Returns the other data by name. */
  SequencedMap<String, DataSource> others() {
    return also == null ? new LinkedHashMap<>() : also;
  }
}
