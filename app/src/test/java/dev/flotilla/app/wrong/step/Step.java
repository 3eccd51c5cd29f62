package dev.flotilla.app.wrong.step;

import dev.flotilla.app.wrong.config.Recipe;
import dev.flotilla.app.wrong.strategy.one.One;

/** Looks upwards twice: at the configuration, and at a technique, of which it knows the name. */
public record Step(Recipe recipe, One technique) {

  boolean isCompressed(String key) {
    return key.equals("dgc");
  }

  String hint() {
    return "limit the gradient, with clip: {norm: 1}";
  }
}
