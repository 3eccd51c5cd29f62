package dev.flotilla.memory;

import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * A stretch of code in which libtorch runs what it holds safe in a smaller number type.
 *
 * <p>The cache of converted weights stays off: an entry made where gradients are switched off would
 * be used where they are on, and the weight's gradient would be zero without an error.
 */
public final class Autocast implements AutoCloseable {

  private static final torch.DeviceType CPU = torch.DeviceType.CPU;

  private final boolean wasEnabled = torch.is_autocast_enabled(CPU);
  private final torch.ScalarType typeBefore = torch.get_autocast_dtype(CPU);
  private final boolean hadCache = torch.is_autocast_cache_enabled();

  private Autocast(boolean isEnabled, torch.ScalarType type) {
    torch.set_autocast_enabled(CPU, isEnabled);
    torch.set_autocast_dtype(CPU, type);
    torch.set_autocast_cache_enabled(false);
  }

  /** Starts a stretch in a number type. */
  public static Autocast to(torch.ScalarType type) {
    return new Autocast(true, type);
  }

  /** Starts a stretch in float32. */
  public static Autocast off() {
    return new Autocast(false, torch.get_autocast_dtype(CPU));
  }

  /** Returns the type that code runs in now, or null where nothing is converted. */
  public static torch.@Nullable ScalarType current() {
    return torch.is_autocast_enabled(CPU) ? torch.get_autocast_dtype(CPU).intern() : null;
  }

  /** Starts a stretch like an earlier one. */
  public static Autocast like(torch.@Nullable ScalarType type) {
    return type == null ? off() : to(type);
  }

  @Override
  public void close() {
    torch.set_autocast_enabled(CPU, wasEnabled);
    torch.set_autocast_dtype(CPU, typeBefore);
    torch.set_autocast_cache_enabled(hadCache);
  }
}
