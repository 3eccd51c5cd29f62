package dev.flotilla.memory;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.Device;
import org.bytedeco.pytorch.DeviceOptional;
import org.bytedeco.pytorch.Generator;
import org.bytedeco.pytorch.MemoryFormatOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch_cuda;

/**
 * Where a rank's tensors live and are computed with: main memory, or one CUDA device.
 *
 * @param index number of the CUDA device; negative for main memory
 */
public record ComputeDevice(int index) {

  /** Main memory. */
  public static final ComputeDevice CPU = new ComputeDevice(-1);

  private static final ComputeDevice FIRST = new ComputeDevice(0);

  /** Returns a CUDA device. */
  public static ComputeDevice cuda(int index) {
    if (index < 0 || index > Byte.MAX_VALUE) {
      throw new IllegalArgumentException("a CUDA device must be in [0, 127], but was " + index);
    }
    return new ComputeDevice(index);
  }

  /** Returns the device of a tensor. */
  public static ComputeDevice of(Tensor tensor) {
    if (!tensor.is_cuda()) {
      return CPU;
    }
    return Constants.IS_ONE_GPU ? FIRST : cuda(indexOf(tensor));
  }

  private static int indexOf(Tensor tensor) {
    try (var device = tensor.device()) {
      return device.index();
    }
  }

  /** Tells whether this is a CUDA device. */
  public boolean isCuda() {
    return index >= 0;
  }

  /** Returns libtorch's name for this kind of device; loads its enumeration, not its library. */
  public torch.DeviceType type() {
    return isCuda() ? torch.DeviceType.CUDA : torch.DeviceType.CPU;
  }

  /** Returns a tensor of zeros in the current scope. */
  public Tensor zeros(torch.ScalarType type, long... shape) {
    return empty(type, shape).zero_();
  }

  /** Returns a tensor without defined content in the current scope. */
  public Tensor empty(torch.ScalarType type, long... shape) {
    return torch.empty(shape, Constants.of(this, type), Constants.ANY_FORMAT);
  }

  /** What each tensor is made with, made once and kept as long as the process lives. */
  private static final class Constants {

    static final boolean IS_ONE_GPU = torch.cuda_device_count() == 1;
    static final MemoryFormatOptional ANY_FORMAT = kept(MemoryFormatOptional::new);
    private static final Map<ComputeDevice, Map<torch.ScalarType, TensorOptions>> OPTIONS =
        new ConcurrentHashMap<>();

    static TensorOptions of(ComputeDevice device, torch.ScalarType type) {
      return OPTIONS
          .computeIfAbsent(device, _ -> new ConcurrentHashMap<>())
          .computeIfAbsent(type.intern(), it -> kept(() -> device.options(it)));
    }

    private static <P extends Pointer> P kept(Supplier<P> constant) {
      try (var _ = TensorScope.open()) {
        return TensorScope.keep(constant.get());
      }
    }
  }

  /** Returns options for tensors of a type, in the current scope. */
  public TensorOptions options(torch.ScalarType type) {
    var options = new TensorOptions(type);
    return isCuda() ? options.device(new DeviceOptional(handle())) : options;
  }

  /** Returns libtorch's handle of this device, in the current scope. */
  public Device handle() {
    return isCuda() ? new Device(type(), (byte) index) : new Device(type());
  }

  /**
   * Returns a tensor here, in the current scope: itself if it is here already. From pinned memory
   * the copy is only started; whatever uses it on the device waits for it.
   */
  public Tensor bring(Tensor tensor) {
    if (tensor.is_cuda() == isCuda() && (!isCuda() || indexOf(tensor) == index)) {
      return tensor;
    }
    try (var scope = TensorScope.open()) {
      var type = tensor.scalar_type();
      return scope.handOut(tensor.to(handle(), type, isCuda(), false, new MemoryFormatOptional()));
    }
  }

  /** Returns what random numbers on this device are drawn from, in the current scope. */
  public Generator generator() {
    return isCuda()
        ? torch.globalContext().defaultGenerator(handle())
        : torch.getDefaultCPUGenerator();
  }

  /** Returns a name that no other GPU has, on any host; the empty text for main memory. */
  public String uniqueName() {
    return isCuda() ? GpuHost.nameOf(index) : "";
  }

  /** Makes float32 mean float32 here: libtorch would round inputs of convolutions to TF32. */
  public void computeExactly() {
    if (isCuda()) {
      torch.globalContext().setAllowTF32CuDNN(false);
      torch.globalContext().setAllowTF32CuBLAS(false);
    }
  }

  /** Lets calls of the driver from this thread mean this device. */
  void makeCurrent() {
    if (isCuda()) {
      torch_cuda.set_device((byte) index);
    }
  }

  /** Waits until everything that was started here is done. */
  public void synchronize() {
    if (isCuda()) {
      torch.cuda_synchronize(index);
    }
  }

  /** Returns "cpu" or "cuda:0". */
  @Override
  public String toString() {
    return isCuda() ? "cuda:" + index : "cpu";
  }
}
