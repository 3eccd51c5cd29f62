package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.flotilla.world.Platform;
import java.lang.foreign.Arena;
import java.util.HexFormat;
import java.util.Optional;
import org.bytedeco.pytorch.global.torch;

/**
 * What libtorch sees of a host's GPUs.
 *
 * @param count number of GPUs
 * @param absence why there is none to use; empty if there is
 */
record GpuHost(int count, Optional<String> absence) {

  private static final int NAME_LENGTH = 16;

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

  /**
   * Asks the driver for the name of a GPU that no other one has, on any host.
   *
   * @param index as this process numbers them; libtorch has used it before
   */
  static String nameOf(int index) {
    var driver = NativeLibrary.find("libcuda.so.1").orElseThrow();
    try (var arena = Arena.ofConfined()) {
      var handle = arena.allocate(JAVA_INT);
      var uuid = arena.allocate(NAME_LENGTH);
      driver.call("cuDeviceGet", handle, index);
      driver.call("cuDeviceGetUuid_v2", uuid, handle.get(JAVA_INT, 0));
      return "GPU-" + HexFormat.of().formatHex(uuid.toArray(JAVA_BYTE));
    }
  }
}
