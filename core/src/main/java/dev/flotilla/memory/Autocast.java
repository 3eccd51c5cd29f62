package dev.flotilla.memory;

import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * A block of code in which libtorch runs what it holds safe in a lower-precision dtype.
 *
 * <p>The cache of converted weights stays off: an entry made where gradients are switched off would
 * be used where they are on, and the weight's gradient would be zero without an error.
 */
public final class Autocast implements AutoCloseable {

  private final torch.DeviceType device;
  private final boolean wasEnabled;
  private final torch.ScalarType typeBefore;
  private final boolean hadCache = torch.is_autocast_cache_enabled();

  private Autocast(ComputeDevice device, boolean isEnabled, torch.ScalarType type) {
    this.device = device.type();
    wasEnabled = torch.is_autocast_enabled(this.device);
    typeBefore = torch.get_autocast_dtype(this.device);
    torch.set_autocast_enabled(this.device, isEnabled);
    torch.set_autocast_dtype(this.device, type);
    torch.set_autocast_cache_enabled(false);
  }

  /** Starts a block with a dtype. */
  public static Autocast to(torch.ScalarType type, ComputeDevice device) {
    return new Autocast(device, true, type);
  }

  /** Starts a block in float32. */
  public static Autocast off(ComputeDevice device) {
    return new Autocast(device, false, torch.get_autocast_dtype(device.type()));
  }

  /** Returns the type that code runs in now, or null where nothing is converted. */
  public static torch.@Nullable ScalarType current(ComputeDevice device) {
    var kind = device.type();
    return torch.is_autocast_enabled(kind) ? torch.get_autocast_dtype(kind).intern() : null;
  }

  /** Starts a block like an earlier one. */
  public static Autocast like(torch.@Nullable ScalarType type, ComputeDevice device) {
    return type == null ? off(device) : to(type, device);
  }

  @Override
  public void close() {
    torch.set_autocast_enabled(device, wasEnabled);
    torch.set_autocast_dtype(device, typeBefore);
    torch.set_autocast_cache_enabled(hadCache);
  }
}
