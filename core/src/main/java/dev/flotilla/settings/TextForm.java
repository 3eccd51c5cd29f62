package dev.flotilla.settings;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Tells editors how a {@link TextValue} may be written. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface TextForm {

  /** The words that are allowed. */
  String[] words();

  /** Whether a positive whole number is allowed as well. */
  boolean orNumber() default false;

  /** Whether a list of texts is allowed as well, which is read with commas between them. */
  boolean orList() default false;

  /** A regular expression of other allowed texts, or the empty text for none. */
  String pattern() default "";
}
