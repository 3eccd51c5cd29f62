package dev.flotilla.memory;

import java.util.Optional;
import org.bytedeco.pytorch.global.torch;

/**
 * What libtorch sees of a host's GPUs.
 *
 * @param count number of GPUs
 * @param absence why there is none to use; empty if there is
 */
record GpuHost(int count, Optional<String> absence) {

  /** Looks at this host; libtorch must have been loaded. */
  static GpuHost here() {
    if (!torch.hasCUDA()) {
      return new GpuHost(
          0,
          Optional.of(
              NativeLibraries.isCudaBuild()
                  ? CudaLibraries.missing().orElseGet(GpuHost::noGpu)
                  : CPU_BUILD));
    }
    int count = torch.cuda_device_count();
    return new GpuHost(count, count == 0 ? Optional.of(noGpu()) : Optional.empty());
  }

  private static final String CPU_BUILD =
      "this is the CPU build of libtorch; build with FLOTILLA_CUDA=1 ./flotilla (Maven: -P cuda),"
          + " or use device: cpu";

  private static String noGpu() {
    var visible = System.getenv("CUDA_VISIBLE_DEVICES");
    return "no GPU is visible: nvidia-smi must list one, and its driver must be 580 or later"
        + (visible == null ? "" : " (CUDA_VISIBLE_DEVICES is '" + visible + "')")
        + "; or use device: cpu";
  }
}
