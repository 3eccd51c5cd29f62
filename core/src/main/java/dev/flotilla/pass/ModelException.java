package dev.flotilla.pass;

import dev.flotilla.model.Activations;
import dev.flotilla.model.Answers;
import dev.flotilla.model.Shape;
import dev.flotilla.world.ExitCoded;
import dev.flotilla.world.ExitCodes;
import java.util.stream.Collectors;

/** Thrown when a model cannot take what it is given; names the segment and the shapes. */
public final class ModelException extends RuntimeException implements ExitCoded {

  private ModelException(String message, Throwable cause) {
    super(message, cause);
  }

  static ModelException inSegment(String segment, Activations input, RuntimeException cause) {
    return new ModelException(
        "segment %s cannot take input of shape %s: %s"
            .formatted(segment, shapes(input), firstLine(cause)),
        cause);
  }

  static ModelException inLoss(Activations outputs, RuntimeException cause) {
    return new ModelException(
        "the loss cannot take outputs of shape %s: %s".formatted(shapes(outputs), firstLine(cause)),
        cause);
  }

  static ModelException inMetric(String metric, Answers answers, RuntimeException cause) {
    return new ModelException(
        "metric %s cannot judge %s: %s".formatted(metric, answers, firstLine(cause)), cause);
  }

  private static String shapes(Activations activations) {
    return activations.tensors().stream()
        .map(tensor -> Shape.of(tensor.shape()).toString())
        .collect(Collectors.joining(", "));
  }

  /** libtorch's texts go on with a native stack, which helps nobody here. */
  private static String firstLine(RuntimeException cause) {
    return String.valueOf(cause.getMessage()).lines().findFirst().orElse("").strip();
  }

  @Override
  public int exitCode() {
    return ExitCodes.FAILED;
  }
}
