package dev.flotilla.app;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import tools.jackson.databind.json.JsonMapper;

/**
 * Recipes of small models on small data by chance, a function of the seed: sound ones in every
 * combination of settings, and such with a few values that nobody would write on purpose.
 */
final class RandomRecipe {

  private static final List<Object> STRANGE =
      List.of(
          -1,
          0,
          1,
          2,
          Integer.MAX_VALUE,
          Long.MAX_VALUE,
          -0.5,
          0.5,
          1e300,
          true,
          "",
          "auto",
          "none",
          "~",
          List.of(),
          List.of(1, "a"),
          Map.of(),
          Map.of("name", "sgd"));

  private final SplittableRandom random;

  RandomRecipe(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /** Returns the text of a recipe, which is JSON and so YAML. */
  String next() {
    var recipe = sound();
    if (random.nextBoolean()) {
      for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
        spoil(recipe);
      }
    }
    String text = JsonMapper.shared().writeValueAsString(recipe);
    return isOneIn(20) ? withoutACharacter(text) : text;
  }

  private String withoutACharacter(String text) {
    int at = random.nextInt(text.length());
    return text.substring(0, at) + text.substring(at + 1);
  }

  private Map<String, Object> sound() {
    var recipe = new LinkedHashMap<String, Object>();
    recipe.put("device", "cpu");
    recipe.put("threads", 1);
    addModel(recipe);
    recipe.put(isOneIn(2) ? "batch" : "global_batch", between(2, 8));
    recipe.put(isOneIn(2) ? "epochs" : "max_steps", between(1, 9));
    recipe.put("optimizer", optimizer());
    maybe(recipe, 2, "schedule", schedule());
    maybe(recipe, 4, "precision", "float64");
    maybe(recipe, 3, "clip", map("norm", 0.1 * between(1, 20)));
    maybe(recipe, 8, "exchange", "auto");
    maybe(recipe, 5, "batch_norm", any("micro_batch", "whole_window", "sync"));
    maybe(
        recipe,
        4,
        "ema",
        map("decay", any(0.5, 0.9), "every", between(1, 2), "warmup", any(true, false)));
    maybe(recipe, 3, "eval", map("every", any("epoch", "end", 2), "batch", between(1, 9)));
    maybe(recipe, 3, "checkpoint", checkpoint());
    maybe(recipe, 3, "non_finite", any("stop", "skip", "rollback"));
    maybe(recipe, 4, "compare_every", between(0, 2));
    maybe(recipe, 4, "log_every", between(1, 3));
    maybe(recipe, 6, "no_decay", List.of("*.bias"));
    maybe(recipe, 6, "freeze", List.of("*.bias"));
    recipe.put("strategy", techniques());
    return recipe;
  }

  private void addModel(Map<String, Object> recipe) {
    int classes = between(2, 6);
    switch (random.nextInt(12)) {
      case 0 -> add(recipe, vgg(classes), images(3, 32, classes));
      case 1, 2 -> add(recipe, residual(classes), images(3, between(8, 20), classes));
      case 3, 4 -> addBert(recipe, classes);
      case 5, 6 -> add(recipe, map("name", "lenet5"), images(1, 32, 10));
      default -> add(recipe, mlp(48, classes), images(3, 4, classes));
    }
  }

  private static void add(Map<String, Object> recipe, Object model, Object data) {
    recipe.put("model", model);
    recipe.put("data", data);
  }

  private Map<String, Object> mlp(int inputs, int classes) {
    List<Object> hidden = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      hidden.add(between(1, 9));
    }
    var model = map("name", "mlp", "inputs", inputs, "classes", classes, "hidden", hidden);
    maybe(model, 3, "dropout", 0.5);
    return model;
  }

  private Map<String, Object> residual(int classes) {
    var model = map("name", "resnet18", "classes", classes, "width", 2);
    maybe(model, 2, "stem", any("cifar", "imagenet"));
    if (isOneIn(3)) {
      model.put("normalization", "group");
      model.put("groups", between(1, 2));
    }
    return model;
  }

  private Map<String, Object> vgg(int classes) {
    String name = (String) any("vgg16", "vgg16_bn");
    return map("name", name, "classes", classes, "width", 1, "hidden", between(1, 5));
  }

  private Map<String, Object> images(int channels, int side, int classes) {
    return map(
        "name",
        "synthetic-images",
        "channels",
        channels,
        "side",
        side,
        "classes",
        classes,
        "samples",
        between(1, 40),
        "test_samples",
        between(1, 9));
  }

  private void addBert(Map<String, Object> recipe, int classes) {
    var model =
        map(
            "name", "bert-tiny",
            "vocab_size", 60,
            "hidden_size", 8,
            "num_hidden_layers", between(1, 2),
            "num_attention_heads", 2,
            "intermediate_size", 16,
            "max_position_embeddings", 16);
    var data =
        map(
            "name", "synthetic-tokens",
            "vocab_size", 60,
            "length", between(4, 16),
            "samples", between(1, 40),
            "test_samples", between(1, 9));
    if (isOneIn(2)) {
      model.put("classes", classes);
      data.put("classes", classes);
      data.put("task", "classification");
    }
    add(recipe, model, data);
  }

  private Map<String, Object> optimizer() {
    String name =
        (String)
            any("sgd", "momentum", "adam", "adamw", "rmsprop", "adagrad", "lamb", "lars", "lion");
    var optimizer = map("name", name, "lr", any(0.001, 0.01));
    maybe(optimizer, 3, "weight_decay", 0.01);
    if (name.equals("lars")) {
      optimizer.put("always_adapt", true);
    }
    if (isOneIn(4)) {
      optimizer.put("scale_lr", any("linear", "sqrt"));
      optimizer.put("base_batch", between(1, 9));
    }
    if (name.equals("momentum")) {
      maybe(optimizer, 2, "nesterov", true);
      maybe(optimizer, 3, "momentum", any(0, 0.5));
    }
    return optimizer;
  }

  private Map<String, Object> schedule() {
    String name =
        (String)
            any(
                "constant",
                "step",
                "cosine",
                "polynomial",
                "linear",
                "milestones",
                "warm_restarts");
    var schedule = map("name", name);
    maybe(schedule, 2, "warmup_steps", between(0, 9));
    if (name.equals("step")) {
      schedule.put("every", between(1, 5));
    } else if (name.equals("milestones")) {
      schedule.put("at", List.of(between(1, 5), between(6, 9)));
    } else if (name.equals("warm_restarts")) {
      schedule.put("period", between(1, 5));
    }
    return schedule;
  }

  private Map<String, Object> checkpoint() {
    var checkpoint = map("every", any("epoch", "end", 2));
    maybe(checkpoint, 2, "keep", between(1, 3));
    maybe(checkpoint, 2, "async", random.nextBoolean());
    maybe(checkpoint, 2, "on_error", any("continue", "stop"));
    return checkpoint;
  }

  private Map<String, Object> techniques() {
    var techniques = new LinkedHashMap<String, Object>();
    maybe(techniques, 3, "gradient_merge", merge());
    maybe(techniques, 5, "recompute", recompute());
    maybe(techniques, 5, "amp", map("dtype", any("bf16", "fp16")));
    maybe(techniques, 6, "fuse_all_reduce", fusion());
    maybe(techniques, 8, "dgc", map("sparsity", List.of(0.5), "min_numel", between(0, 99)));
    maybe(techniques, 8, "localsgd", localSgd(map("k_steps", between(1, 4))));
    maybe(techniques, 16, "adaptive_localsgd", localSgd(map("max_k_steps", between(1, 4))));
    return techniques;
  }

  private Map<String, Object> merge() {
    var merge =
        isOneIn(4)
            ? map("global_batch", 8 * between(1, 4))
            : map("k_steps", any(1, 2, 3, "1 then 2 from 2"));
    maybe(merge, 2, "tail", any("flush", "carry", "drop"));
    maybe(merge, 3, "avg", false);
    maybe(merge, 4, "weighting", "micro_batches");
    return merge;
  }

  private Map<String, Object> recompute() {
    var recompute = isOneIn(3) ? map("checkpoints", "auto") : map("every", between(1, 3));
    maybe(recompute, 4, "offload", true);
    maybe(recompute, 4, "keep_attention", true);
    maybe(recompute, 4, "keep_products", "1MB");
    return recompute;
  }

  private Map<String, Object> fusion() {
    var fusion = map("max_tensors", between(1, 9));
    maybe(fusion, 3, "wire", any("bf16", "fp16"));
    maybe(fusion, 3, "overlap", false);
    maybe(fusion, 3, "plan", "mg_wfbp");
    return fusion;
  }

  private Map<String, Object> localSgd(Map<String, Object> settings) {
    maybe(settings, 2, "momentum", any("local", "average", "reset"));
    maybe(settings, 2, "wire", any("bf16", "int8", "int4"));
    maybe(settings, 3, "overlap", true);
    maybe(settings, 3, "group", "host");
    return settings;
  }

  /** Changes, removes or adds something at a place that is reached by chance. */
  @SuppressWarnings("unchecked")
  private void spoil(Map<String, Object> mapping) {
    var keys = List.copyOf(mapping.keySet());
    if (keys.isEmpty() || isOneIn(12)) {
      mapping.put((String) any("batch_size", "k_steps", "classes", "batch", "name"), strange());
      return;
    }
    String key = keys.get(random.nextInt(keys.size()));
    if (key.equals("device") || key.equals("threads")) {
      return;
    }
    if (mapping.get(key) instanceof Map<?, ?> inner && !isOneIn(6)) {
      spoil((Map<String, Object>) inner);
    } else if (isOneIn(8)) {
      mapping.remove(key);
    } else {
      mapping.put(key, strange());
    }
  }

  private Object strange() {
    Object value = STRANGE.get(random.nextInt(STRANGE.size()));
    return value instanceof Map<?, ?> map ? new LinkedHashMap<>(map) : value;
  }

  private void maybe(Map<String, Object> mapping, int oneIn, String key, Object value) {
    if (isOneIn(oneIn)) {
      mapping.put(key, value);
    }
  }

  private boolean isOneIn(int count) {
    return random.nextInt(count) == 0;
  }

  private int between(int least, int most) {
    return random.nextInt(least, most + 1);
  }

  private Object any(Object... values) {
    return values[random.nextInt(values.length)];
  }

  private static Map<String, Object> map(Object... keysAndValues) {
    var map = new LinkedHashMap<String, Object>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      map.put((String) keysAndValues[i], keysAndValues[i + 1]);
    }
    return map;
  }
}
