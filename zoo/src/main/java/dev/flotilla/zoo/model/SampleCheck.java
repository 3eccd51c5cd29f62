package dev.flotilla.zoo.model;

import dev.flotilla.data.SampleForm;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Says in the same words for all models why samples cannot go through. */
final class SampleCheck {

  private final List<Problem> problems = new ArrayList<>();

  private SampleCheck() {}

  /** Checks images, which a network takes if they meet a condition. */
  static void images(
      SampleForm form, String wanted, Predicate<SampleForm.Images> fits, int classes) {
    var check = new SampleCheck();
    if (form instanceof SampleForm.Images images && fits.test(images)) {
      check.classes(form, classes);
    } else {
      check.refuse("", "takes %s, but the data gives %s".formatted(wanted, form));
    }
    check.orThrow();
  }

  /** Checks images, which a network takes flattened, or rows of numbers. */
  static void flattened(SampleForm form, int inputs, int classes) {
    var check = new SampleCheck();
    switch (form) {
      case SampleForm.Images images -> check.flattened(form, images.elements(), inputs, classes);
      case SampleForm.Numbers rows -> {
        check.flattened(form, rows.columns(), inputs, classes);
        if (rows.classes() == 0 && classes != 1) {
          check.refuse("classes", "must be 1, the number to guess, but was " + classes);
        }
      }
      case SampleForm.Tokens _ -> check.refuse("", "takes images, but the data gives " + form);
    }
    check.orThrow();
  }

  private void flattened(SampleForm form, long elements, int inputs, int classes) {
    classes(form, classes);
    if (elements != inputs) {
      refuse(
          "inputs",
          "must be %d, the numbers of %s that the data gives, but was %d"
              .formatted(elements, form, inputs));
    }
  }

  /** Checks sequences of tokens. */
  static void tokens(SampleForm form, BertSizes sizes, @Nullable Integer classes) {
    var check = new SampleCheck();
    if (!(form instanceof SampleForm.Tokens tokens)) {
      check.refuse("", "takes sequences of tokens, but the data gives " + form);
    } else {
      check.task(tokens, classes);
      check.atLeast("vocab_size", sizes.vocabSize(), tokens.vocabSize(), "tokens of the data");
      check.atLeast(
          "max_position_embeddings",
          sizes.maxPositionEmbeddings(),
          tokens.longest(),
          "longest sequence that the data may have");
    }
    check.orThrow();
  }

  private void task(SampleForm.Tokens tokens, @Nullable Integer classes) {
    if (classes == null && tokens.classes() > 0) {
      refuse(
          "classes",
          "must be stated, since the data is for classification of %d classes"
              .formatted(tokens.classes()));
    } else if (classes != null && tokens.classes() == 0) {
      refuse("classes", "must not be stated, since the data is for pre-training");
    } else if (classes != null) {
      classes(tokens, classes);
    }
  }

  private void classes(SampleForm form, int classes) {
    atLeast("classes", classes, form.classes(), "classes of the data");
  }

  private void atLeast(String key, int actual, int needed, String reason) {
    if (actual < needed) {
      refuse(key, "must be at least %d, the %s, but was %d".formatted(needed, reason, actual));
    }
  }

  private void refuse(String key, String message) {
    problems.add(new Problem("", key, message, ""));
  }

  private void orThrow() {
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
  }
}
