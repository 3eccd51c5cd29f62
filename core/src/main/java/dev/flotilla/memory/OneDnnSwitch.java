package dev.flotilla.memory;

import org.bytedeco.pytorch.global.torch;

/**
 * Leaves libtorch's switch for oneDNN as it was found, when closed.
 *
 * <p>On a CPU without bf16 instructions the first product in bf16 that oneDNN refuses lets libtorch
 * switch oneDNN off for the whole process: float32 work that follows would be slower, and differ in
 * its last bits from the same work before.
 */
public final class OneDnnSwitch implements AutoCloseable {

  private final boolean wasOn = torch.globalContext().userEnabledMkldnn();

  @Override
  public void close() {
    if (wasOn) {
      torch.globalContext().setUserEnabledMkldnn(true);
    }
  }
}
