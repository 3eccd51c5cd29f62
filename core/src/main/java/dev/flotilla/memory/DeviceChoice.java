package dev.flotilla.memory;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.TextForm;
import dev.flotilla.settings.TextValue;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Where a user wants tensors to live: {@code cpu}, {@code cuda} for this rank's GPU, {@code cuda:1}
 * for a certain one, or {@code auto} for the rank's GPU where there is one.
 *
 * @param text as it is written
 */
@TextForm(
    words = {"cpu", "cuda", "auto"},
    pattern = DeviceChoice.FORM)
public record DeviceChoice(String text) implements TextValue {

  static final String FORM = "cuda:[0-9]{1,2}";
  private static final Pattern NUMBERED = Pattern.compile(FORM);

  /** Main memory. */
  public static final DeviceChoice CPU = new DeviceChoice("cpu");

  /** The rank's GPU. */
  public static final DeviceChoice CUDA = new DeviceChoice("cuda");

  /** The rank's GPU where there is one. */
  public static final DeviceChoice AUTO = new DeviceChoice("auto");

  /** Checks the text. */
  public DeviceChoice {
    boolean isKnown = List.of("cpu", "cuda", "auto").contains(text);
    if (!isKnown && !NUMBERED.matcher(text).matches()) {
      throw new ConfigException("", "must be cpu, cuda, cuda:N or auto, but was '" + text + "'");
    }
  }

  /** Reads a choice. */
  public static DeviceChoice parse(String text) {
    return new DeviceChoice(text);
  }

  /**
   * Finds the device of a rank; libtorch must have been loaded.
   *
   * @param localRank number of the rank on its host
   * @param localSize number of ranks on the host
   * @param gpus the GPUs that ranks may take, the first rank the first; empty for all of them
   * @param notices hears if ranks share a GPU
   * @throws ConfigException if there is no such device, with the reason
   */
  public ComputeDevice resolve(
      int localRank, int localSize, List<Integer> gpus, Consumer<String> notices) {
    return resolve(localRank, localSize, gpus, GpuHost.here(), notices);
  }

  ComputeDevice resolve(
      int localRank, int localSize, List<Integer> gpus, GpuHost host, Consumer<String> notices) {
    if (equals(CPU) || (equals(AUTO) && gpus.isEmpty() && host.absence().isPresent())) {
      return ComputeDevice.CPU;
    }
    host.absence().ifPresent(this::refuse);
    var stated = number();
    int places = stated.isPresent() ? 1 : gpus.isEmpty() ? host.count() : gpus.size();
    int index = stated.orElse(gpus.isEmpty() ? localRank % places : gpus.get(localRank % places));
    if (index >= host.count()) {
      throw new ConfigException(
          gpus.isEmpty() ? "device" : "--gpus",
          "GPU %d is asked for, but this host has %d, numbered from 0"
              .formatted(index, host.count()));
    }
    if (localSize > places && localRank == 0) {
      notices.accept(
          "%d ranks share %s on this host: they take turns, and their memory adds up"
              .formatted(localSize, places == 1 ? "one GPU" : places + " GPUs"));
    }
    return ComputeDevice.cuda(index);
  }

  private void refuse(String reason) {
    throw new ConfigException(
        "device", "%s is asked for, but %s".formatted(equals(AUTO) ? "a GPU" : text, reason));
  }

  private Optional<Integer> number() {
    int colon = text.indexOf(':');
    return colon < 0 ? Optional.empty() : Optional.of(Integer.parseInt(text.substring(colon + 1)));
  }

  @Override
  public String toString() {
    return text;
  }
}
