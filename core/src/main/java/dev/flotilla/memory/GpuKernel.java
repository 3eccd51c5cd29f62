package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * A kernel of our own, for what libtorch's take several passes over memory for.
 *
 * <p>Its source is compiled at first use for the GPU at hand, by NVRTC of the host's CUDA. Kernels
 * run on the default stream, as everything does here, but for work that a {@link GraphRecorder}
 * leads aside.
 */
public final class GpuKernel {

  private static final int COMPUTE_CAPABILITY_MAJOR = 75;
  private static final int COMPUTE_CAPABILITY_MINOR = 76;
  private static final MemorySegment NULL = MemorySegment.NULL;

  /** Stands for a tensor that is not there. */
  public static final Object ABSENT = NULL;

  private final ComputeDevice device;
  private final MethodHandle start;
  private final MemorySegment function;

  private GpuKernel(ComputeDevice device, MethodHandle start, MemorySegment function) {
    this.device = device;
    this.start = start;
    this.function = function;
  }

  /**
   * Compiles kernels for a device that libtorch has used before.
   *
   * @param source name of the source file, for messages
   * @param text the source, which is read and closed; whoever has it in a module opens it, as
   *     others may not
   * @param options of the compiler, such as -DNAME=VALUE
   * @param names of the kernels in it
   * @return each by its name; nothing if the host has no NVRTC, or one that does not know this GPU
   */
  public static Optional<Map<String, GpuKernel>> compile(
      ComputeDevice device,
      String source,
      @Nullable InputStream text,
      List<String> options,
      List<String> names) {
    var compiler = NativeLibrary.find("libnvrtc.so.13");
    var driver = NativeLibrary.find("libcuda.so.1");
    if (compiler.isEmpty() || driver.isEmpty()) {
      return Optional.empty();
    }
    var program = read(source, text);
    device.makeCurrent();
    device.synchronize(); // There is no context before the first call.
    try {
      List<String> all = new ArrayList<>(options);
      all.add(architecture(driver.get(), device));
      var image = compile(compiler.get(), program, all);
      return Optional.of(loaded(driver.get(), device, image, names));
    } catch (IllegalStateException | NoSuchElementException unable) {
      System.getLogger(GpuKernel.class.getName())
          .log(
              Level.WARNING,
              "libtorch's operations stand in for the kernels of {0}, more slowly: {1}",
              source,
              unable.getMessage());
      return Optional.empty();
    }
  }

  private static Map<String, GpuKernel> loaded(
      NativeLibrary driver, ComputeDevice device, MemorySegment image, List<String> names) {
    Map<String, GpuKernel> kernels = new HashMap<>();
    var start = driver.handle("cuLaunchKernel", NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    try (var arena = Arena.ofConfined()) {
      var module = arena.allocate(ADDRESS);
      driver.call("cuModuleLoadData", module, image);
      for (var name : names) {
        var function = arena.allocate(ADDRESS);
        driver.call(
            "cuModuleGetFunction", function, module.get(ADDRESS, 0), arena.allocateFrom(name));
        kernels.put(name, new GpuKernel(device, start, function.get(ADDRESS, 0)));
      }
      return kernels;
    }
  }

  private static String read(String source, @Nullable InputStream text) {
    if (text == null) {
      throw new IllegalStateException(source + " is missing");
    }
    try (text) {
      return new String(text.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static String architecture(NativeLibrary driver, ComputeDevice device) {
    try (var arena = Arena.ofConfined()) {
      var number = arena.allocate(JAVA_INT);
      var handle = arena.allocate(JAVA_INT);
      driver.call("cuDeviceGet", handle, device.index());
      int gpu = handle.get(JAVA_INT, 0);
      driver.call("cuDeviceGetAttribute", number, COMPUTE_CAPABILITY_MAJOR, gpu);
      int major = number.get(JAVA_INT, 0);
      driver.call("cuDeviceGetAttribute", number, COMPUTE_CAPABILITY_MINOR, gpu);
      return "--gpu-architecture=sm_" + major + number.get(JAVA_INT, 0);
    }
  }

  /** Returns machine code, in memory that is never freed. */
  private static MemorySegment compile(NativeLibrary compiler, String text, List<String> options) {
    try (var arena = Arena.ofConfined()) {
      var holder = arena.allocate(ADDRESS);
      compiler.call(
          "nvrtcCreateProgram",
          holder,
          arena.allocateFrom(text),
          arena.allocateFrom("kernel.cu"),
          0,
          NULL,
          NULL);
      var program = holder.get(ADDRESS, 0);
      var arguments = arena.allocate(ADDRESS, options.size());
      for (int i = 0; i < options.size(); i++) {
        arguments.setAtIndex(ADDRESS, i, arena.allocateFrom(options.get(i)));
      }
      int result = compiler.result("nvrtcCompileProgram", program, options.size(), arguments);
      if (result != 0) {
        throw new IllegalStateException("NVRTC refuses a kernel: " + log(compiler, program));
      }
      var size = arena.allocate(JAVA_LONG);
      compiler.call("nvrtcGetCUBINSize", program, size);
      var image = Arena.global().allocate(size.get(JAVA_LONG, 0));
      compiler.call("nvrtcGetCUBIN", program, image);
      compiler.call("nvrtcDestroyProgram", holder);
      return image;
    }
  }

  private static String log(NativeLibrary compiler, MemorySegment program) {
    try (var arena = Arena.ofConfined()) {
      var size = arena.allocate(JAVA_LONG);
      compiler.call("nvrtcGetProgramLogSize", program, size);
      var text = arena.allocate(size.get(JAVA_LONG, 0));
      compiler.call("nvrtcGetProgramLog", program, text);
      return text.getString(0);
    }
  }

  /**
   * Starts the kernel.
   *
   * @param arguments tensors, whose first element's address is passed, {@link #ABSENT} for one that
   *     is not there, and numbers of the types that the kernel states
   */
  public void launch(int blocks, int threads, Object... arguments) {
    device.makeCurrent();
    try (var arena = Arena.ofConfined()) {
      var addresses = arena.allocate(ADDRESS, arguments.length);
      var values = arena.allocate(JAVA_LONG, arguments.length);
      for (int i = 0; i < arguments.length; i++) {
        long offset = i * JAVA_LONG.byteSize();
        put(values, offset, arguments[i]);
        addresses.setAtIndex(ADDRESS, i, values.asSlice(offset));
      }
      launch(blocks, threads, addresses);
    }
  }

  /** A step starts hundreds of kernels, so this call is worth a handle of its own. */
  private void launch(int blocks, int threads, MemorySegment values) {
    var stream = GraphRecorder.streamOf(device);
    int result;
    try {
      result =
          (int) start.invokeExact(function, blocks, 1, 1, threads, 1, 1, 0, stream, values, NULL);
    } catch (Throwable failure) {
      throw new IllegalStateException("cannot start a kernel", failure);
    }
    if (result != 0) {
      throw new IllegalStateException("cuLaunchKernel failed with error " + result);
    }
  }

  private static void put(MemorySegment values, long offset, Object argument) {
    switch (argument) {
      case Tensor tensor -> values.set(JAVA_LONG, offset, address(tensor));
      case Integer number -> values.set(JAVA_INT, offset, number);
      case Long number -> values.set(JAVA_LONG, offset, number);
      case Float number -> values.set(JAVA_FLOAT, offset, number);
      case Double number -> values.set(JAVA_DOUBLE, offset, number);
      case MemorySegment none -> values.set(ADDRESS, offset, none);
      default -> throw new IllegalArgumentException("no kernel takes a " + argument.getClass());
    }
  }

  private static long address(Tensor tensor) {
    try (var pointer = tensor.data_ptr()) {
      return pointer.address();
    }
  }
}
