package dev.flotilla.settings;

import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;

/**
 * What would help with a problem that a message describes.
 *
 * <p>Who writes the message knows what would help, not which settings do that: these say so
 * themselves with {@link Offer}, and are looked up by it among all that recipes can name.
 */
public enum Remedy {
  /** One update from the gradients of several micro-batches. */
  ACCUMULATION("gradient accumulation"),
  /** Accumulation windows that end with the epoch at the latest. */
  FULL_WINDOWS("make accumulation windows shorter than an epoch"),
  /** Less that forward keeps for backward. */
  FEWER_SAVED_TENSORS("recomputation"),
  /** A limit to the norm of the gradient. */
  LIMITED_NORM("clipping to a norm"),
  /** Statistics of BatchNorm over all micro-batches of an accumulation window. */
  POOLED_STATISTICS("statistics over the whole accumulation window"),
  /** Dense gradients in half the bytes. */
  HALF_PRECISION_SUMS("16 bits on the wire"),
  /** Parameters, gradients and optimizer memory of which each rank keeps a part. */
  SHARDED_STATE("a part of them on each"),
  /** State that lies in host memory or in files while it is not used. */
  STATE_BESIDE_DEVICE("memory beside the device"),
  /** Gradients that every rank keeps whole until they are exchanged. */
  WHOLE_GRADIENTS("no slices of them"),
  /** Ranks of a host that hold the same parameters at all times, where hosts do not. */
  SAME_ON_HOST("the same parameters on all ranks of a host"),
  /** Forward in bf16. */
  BF16_FORWARD("forward in bf16"),
  /** Buckets that leave after backward, not during it. */
  NO_OVERLAP("overlap to false");

  private final String words;

  Remedy(String words) {
    this.words = words;
  }

  /** Returns the settings that offer it, or a description where none is installed. */
  public String named() {
    List<String> found = new ArrayList<>();
    for (var names : ServiceLoader.load(Names.class, Remedy.class.getClassLoader())) {
      names.settings().forEach((name, type) -> found.addAll(offers(name, type)));
    }
    return found.isEmpty() ? words : String.join(" or ", found);
  }

  private List<String> offers(String name, Class<?> type) {
    List<String> found = new ArrayList<>();
    for (var offer : type.getAnnotationsByType(Offer.class)) {
      if (offer.value() == this) {
        found.add(offer.as().formatted(name));
      }
    }
    return found;
  }

  /** Says that settings are a remedy. */
  @Retention(RetentionPolicy.RUNTIME)
  @Target(ElementType.TYPE)
  @Repeatable(Offers.class)
  public @interface Offer {

    /** What they help with. */
    Remedy value();

    /** What a message asks for, with {@code %1$s} for their name; the name alone by default. */
    String as() default "%s";
  }

  /** Several of them on one type. */
  @Retention(RetentionPolicy.RUNTIME)
  @Target(ElementType.TYPE)
  public @interface Offers {

    /** The remedies. */
    Offer[] value();
  }

  /** Knows the settings that a recipe can name; found with {@link ServiceLoader}. */
  public interface Names {

    /** Returns types of settings by name, in the order in which hints list them. */
    Map<String, Class<?>> settings();
  }
}
