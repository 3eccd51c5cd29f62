package dev.flotilla.world;

import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Thrown when a program calls a function of libtorch's binding that the glue for arm64 does not
 * hold; says which one, and how to add it.
 */
public final class MissingNativeException extends RuntimeException implements ExitCoded {

  /**
   * How the JVM names a method, such as {@code 'Tensor org.bytedeco.pytorch.global.torch.abs(…)'}.
   */
  private static final Pattern METHOD =
      Pattern.compile("org\\.bytedeco\\.pytorch\\.(?:global\\.)?([\\w.$]+)\\.(\\w+)\\(");

  private MissingNativeException(String method, UnsatisfiedLinkError cause) {
    super(
        "%s is not in the glue between Java and libtorch on arm64: add the line '%s' to arm64/natives.txt, run arm64/build-glue, and build again"
            .formatted(method, method),
        cause);
  }

  /** Runs a user's code and turns the JVM's error into this exception. */
  public static <T> T explain(Supplier<T> userCode) {
    try {
      return userCode.get();
    } catch (UnsatisfiedLinkError missing) {
      throw of(missing).orElseThrow(() -> missing);
    }
  }

  /** Returns the exception for an error of the binding; nothing if it is about something else. */
  public static Optional<MissingNativeException> of(Throwable failure) {
    if (failure instanceof UnsatisfiedLinkError missing && missing.getMessage() != null) {
      var method = METHOD.matcher(missing.getMessage());
      if (method.find()) {
        return Optional.of(
            new MissingNativeException(method.group(1) + "." + method.group(2), missing));
      }
    }
    return Optional.empty();
  }

  @Override
  public int exitCode() {
    return ExitCodes.USAGE;
  }
}
