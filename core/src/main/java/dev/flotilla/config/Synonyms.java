package dev.flotilla.config;

import dev.flotilla.text.NearestName;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;

/** What other programs call keys of a recipe, for whoever comes from them. */
final class Synonyms {

  private static final String ACCUMULATION = "strategy.gradient_merge.k_steps";
  private static final String AMP = "strategy.amp.dtype";

  private static final Map<String, String> KEYS =
      Map.ofEntries(
          Map.entry("batch_size", "batch"),
          Map.entry("micro_batch_size", "batch"),
          Map.entry("per_device_train_batch_size", "batch"),
          Map.entry("train_batch_size", "global_batch"),
          Map.entry("global_batch_size", "global_batch"),
          Map.entry("lr", "optimizer.lr"),
          Map.entry("learning_rate", "optimizer.lr"),
          Map.entry("base_lr", "optimizer.lr"),
          Map.entry("momentum", "optimizer.momentum"),
          Map.entry("weight_decay", "optimizer.weight_decay"),
          Map.entry("wd", "optimizer.weight_decay"),
          Map.entry("epsilon", "optimizer.eps"),
          Map.entry("max_epochs", "epochs"),
          Map.entry("num_epochs", "epochs"),
          Map.entry("num_train_epochs", "epochs"),
          Map.entry("steps", "max_steps"),
          Map.entry("num_steps", "max_steps"),
          Map.entry("max_updates", "max_steps"),
          Map.entry("gradient_accumulation_steps", ACCUMULATION),
          Map.entry("gradient_accumulation", ACCUMULATION),
          Map.entry("accumulate_grad_batches", ACCUMULATION),
          Map.entry("max_grad_norm", "clip.norm"),
          Map.entry("gradient_clip_val", "clip.norm"),
          Map.entry("max_norm", "clip.norm"),
          Map.entry("warmup_steps", "schedule.warmup_steps"),
          Map.entry("num_warmup_steps", "schedule.warmup_steps"),
          Map.entry("lr_scheduler", "schedule"),
          Map.entry("scheduler", "schedule"),
          Map.entry("dataset", "data"),
          Map.entry("dtype", "precision"),
          Map.entry("random_seed", "seed"),
          Map.entry("fp16", AMP),
          Map.entry("bf16", AMP),
          Map.entry("mixed_precision", AMP));

  private Synonyms() {}

  /**
   * Returns "; did you mean 'x'?" or the empty text.
   *
   * @param path dotted key of the mapping that the unknown key stands in
   * @param known keys of that mapping
   */
  static String hint(String path, String unknown, Collection<String> known) {
    return Optional.ofNullable(KEYS.get(unknown))
        .flatMap(key -> within(path, key))
        .filter(key -> path.isEmpty() || known.contains(key))
        .map(key -> "; did you mean '" + key + "'?")
        .orElseGet(() -> NearestName.hint(unknown, known));
  }

  /** Returns the dotted key that a word was probably meant to be, at the top of a recipe. */
  static Optional<String> meaningOf(String word, Collection<String> known) {
    return Optional.ofNullable(KEYS.get(word)).or(() -> NearestName.of(word, known));
  }

  /** From the top any key can be pointed at, from elsewhere those of the same mapping. */
  private static Optional<String> within(String path, String key) {
    if (path.isEmpty()) {
      return Optional.of(key);
    }
    return key.startsWith(path + ".")
        ? Optional.of(key.substring(path.length() + 1))
        : Optional.empty();
  }
}
