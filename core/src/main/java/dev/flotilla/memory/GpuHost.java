package dev.flotilla.memory;

import dev.flotilla.world.Platform;
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
                  : cpuBuild()));
    }
    int count = torch.cuda_device_count();
    return new GpuHost(count, count == 0 ? Optional.of(noGpu()) : Optional.empty());
  }

  private static String cpuBuild() {
    return Platform.here() == Platform.LINUX_X86_64
        ? "this is the CPU build of libtorch; build with FLOTILLA_CUDA=1 ./flotilla (Maven: -P"
            + " cuda), or use device: cpu"
        : "CUDA is supported on x86-64 alone, and this is %s; use device: cpu"
            .formatted(Platform.here());
  }

  private static String noGpu() {
    var visible = System.getenv("CUDA_VISIBLE_DEVICES");
    return "no GPU is visible: nvidia-smi must list one, and its driver must be 580 or later"
        + (visible == null ? "" : " (CUDA_VISIBLE_DEVICES is '" + visible + "')")
        + "; or use device: cpu";
  }
}
