package dev.flotilla.memory;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Operations on a CPU for which libtorch takes many times as long as memory does (cpu_kernels.c),
 * with the bits of libtorch's. On x86-64 they use libtorch's threads.
 */
public final class CpuKernels {

  /** The least width of images: their windows are taken four at a time. */
  public static final int LEAST_WIDTH = 8;

  /** With more threads they were not compared with libtorch's operations. */
  private static final int MOST_THREADS = 4;

  private static final CpuKernels HERE = new CpuKernels(NativeLibraries.shipped("kernels"));

  private final MethodHandle rectifiedMaximum;
  private final MethodHandle rectifiedMaximumGradient;

  private CpuKernels(Path file) {
    var library = NativeLibrary.find(file.toString()).orElseThrow();
    rectifiedMaximum = handle(library, "flotilla_rectified_maximum");
    rectifiedMaximumGradient = handle(library, "flotilla_rectified_maximum_gradient");
  }

  private static MethodHandle handle(NativeLibrary library, String function) {
    var any = MemorySegment.NULL;
    return library.handle(function, any, any, any, 0L, 0L, 0L);
  }

  /** Tells whether they are known to take less time than libtorch's with so many threads. */
  public static boolean arePreferred() {
    return torch.get_num_threads() <= MOST_THREADS;
  }

  /**
   * Computes max(0, ·) and the maximum of each 2×2 window.
   *
   * @param input images, float32, at least {@link #LEAST_WIDTH} wide
   * @param output takes the maxima
   * @param places takes a byte for each window, for {@link #rectifiedMaximumGradient}
   */
  public static void rectifiedMaximum(Tensor input, Tensor output, Tensor places) {
    run(HERE.rectifiedMaximum, input, output, places, input);
  }

  /**
   * Computes the gradient of what {@link #rectifiedMaximum} has taken.
   *
   * @param gradient of the maxima
   * @param result takes the gradient of the images
   */
  public static void rectifiedMaximumGradient(Tensor gradient, Tensor places, Tensor result) {
    run(HERE.rectifiedMaximumGradient, gradient, places, result, result);
  }

  private static void run(
      MethodHandle function, Tensor first, Tensor second, Tensor third, Tensor images) {
    try {
      int _ =
          (int)
              function.invokeExact(
                  NativeView.of(first),
                  NativeView.of(second),
                  NativeView.of(third),
                  images.size(0) * images.size(1),
                  images.size(2),
                  images.size(3));
    } catch (RuntimeException | Error failure) {
      throw failure;
    } catch (Throwable failure) {
      throw new IllegalStateException("cannot call our own native code", failure);
    }
  }
}
