package dev.flotilla.settings;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Documents one key of a settings record; the key is the component's name in snake_case.
 *
 * <p>The same text serves the binder, the JSON schema and the printed plan.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Setting {

  /** Marks a key that has no default and must be given. */
  String REQUIRED = "<required>";

  /** One line that says what the key does. */
  String doc();

  /**
   * The default in YAML notation, for example {@code 0.9}, {@code [0.9, 0.999]} or {@code null}. A
   * record that has a constructor without parameters needs none: what that constructor makes holds
   * the defaults.
   */
  String def() default REQUIRED;

  /**
   * The key of the same record that must not be stated together with this one. A later layer that
   * states one takes the other away; without a default, one of the two must be stated.
   */
  String insteadOf() default "";

  /** The words that are allowed, where the key's enum has more; all of them by default. */
  String[] words() default {};

  /** Whether ranks may differ in this key; keys that hold a path always may. */
  boolean local() default false;
}
