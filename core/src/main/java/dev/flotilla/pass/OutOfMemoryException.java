package dev.flotilla.pass;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.DeviceMemory;
import dev.flotilla.settings.ByteSize;
import dev.flotilla.settings.Remedy;
import dev.flotilla.world.ExitCoded;
import dev.flotilla.world.ExitCodes;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** Thrown when a device has no memory left; says where, how much, and what would help. */
public final class OutOfMemoryException extends RuntimeException implements ExitCoded {

  private static final Pattern WANTED = Pattern.compile("Tried to allocate ([0-9.]+ [KMG]iB)");

  // What the allocators of a GPU and of main memory say.
  private static final List<String> WORDS =
      List.of("out of memory", "not enough memory", "can't allocate memory");

  private OutOfMemoryException(String message, Throwable cause) {
    super(message, cause);
  }

  /** Tells whether a failure of libtorch means that a device is full. */
  public static boolean isMeantBy(RuntimeException failure) {
    var text = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
    return failure instanceof OutOfMemoryException || WORDS.stream().anyMatch(text::contains);
  }

  /** Explains such a failure; an explained one stays as it is. */
  public static OutOfMemoryException in(
      String place, ComputeDevice device, RuntimeException failure) {
    if (failure instanceof OutOfMemoryException known) {
      return known;
    }
    return new OutOfMemoryException(
        "%s: %s is out of memory%s%s; take a smaller batch with %s to make up for it, or add %s, which keep less for backward, or %s, which keeps the state elsewhere; flotilla fit-batch finds the largest batch"
            .formatted(
                place,
                device,
                wanted(failure),
                held(device),
                Remedy.ACCUMULATION.named(),
                Remedy.FEWER_SAVED_TENSORS.named(),
                Remedy.STATE_BESIDE_DEVICE.named()),
        failure);
  }

  /** Explains why a model does not even start. */
  public static OutOfMemoryException atStart(RuntimeException failure) {
    return new OutOfMemoryException(
        "parameters, gradients and optimizer do not fit into the device's memory%s; train on several ranks with %s, or on any number with %s, which keeps what does not fit in host memory or in files; or take a smaller model, freeze some of it, or use an optimizer that keeps less (sgd nothing, momentum one number a parameter, adam two)"
            .formatted(
                wanted(failure), Remedy.SHARDED_STATE.named(), Remedy.STATE_BESIDE_DEVICE.named()),
        failure);
  }

  private static String wanted(RuntimeException failure) {
    var match = WANTED.matcher(String.valueOf(failure.getMessage()));
    return match.find() ? " for " + match.group(1) + " more" : "";
  }

  private static String held(ComputeDevice device) {
    if (!device.isCuda()) {
      return "";
    }
    var memory = new DeviceMemory(device);
    return ", with %s in use of %s"
        .formatted(
            ByteSize.atLeast(Math.max(1, memory.liveBytes())),
            ByteSize.atLeast(memory.limitBytes()));
  }

  @Override
  public int exitCode() {
    return ExitCodes.FAILED;
  }
}
