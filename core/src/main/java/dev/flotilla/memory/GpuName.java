package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.util.HexFormat;

/** Asks the driver for the name of a GPU that no other one has, on any host. */
final class GpuName {

  private static final int LENGTH = 16;

  private GpuName() {}

  /** Returns the name of a GPU as this process numbers them; libtorch has used it before. */
  static String of(int index) {
    var driver = NativeLibrary.find("libcuda.so.1").orElseThrow();
    try (var arena = Arena.ofConfined()) {
      var handle = arena.allocate(JAVA_INT);
      var uuid = arena.allocate(LENGTH);
      driver.call("cuDeviceGet", handle, index);
      driver.call("cuDeviceGetUuid_v2", uuid, handle.get(JAVA_INT, 0));
      return "GPU-" + HexFormat.of().formatHex(uuid.toArray(JAVA_BYTE));
    }
  }
}
