package dev.flotilla.strategy.compress;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Messages that the CPU packs: what was chosen on a device is a thousandth of it, and its code runs
 * from one entry to the next.
 */
final class CodedMessages implements DeviceMessages {

  private final WireFormat format;
  private final ComputeDevice device;
  private final HostMessages memory;
  private final int[] indices;
  private final float[] values;

  /** Prepares messages of what lies on a device. */
  CodedMessages(WireFormat format, int ranks, ComputeDevice device) {
    this.format = format;
    this.device = device;
    memory = HostMessages.of(format.words(), ranks);
    indices = new int[format.capacity()];
    values = new float[format.capacity()];
  }

  @Override
  public Tensor message() {
    return memory.own();
  }

  @Override
  public Tensor messages() {
    return memory.all();
  }

  @Override
  public void write(Tensor chosen, Tensor sent) {
    try (var _ = TensorScope.open()) {
      int count = Math.toIntExact(chosen.numel());
      copy(NativeView.of(chosen.to(torch.ScalarType.Int).cpu()), indices, count);
      copy(NativeView.of(sent.cpu()), values, count);
      format.write(memory.ownBytes(), indices, values, count);
      sent.copy_(floats(count));
    }
  }

  private static void copy(MemorySegment from, int[] to, int count) {
    MemorySegment.copy(from, ValueLayout.JAVA_INT, 0, to, 0, count);
  }

  private static void copy(MemorySegment from, float[] to, int count) {
    MemorySegment.copy(from, ValueLayout.JAVA_FLOAT, 0, to, 0, count);
  }

  private Tensor floats(int count) {
    var host = Tensors.empty(torch.ScalarType.Float, count);
    MemorySegment.copy(values, 0, NativeView.of(host), ValueLayout.JAVA_FLOAT, 0, count);
    return host;
  }

  @Override
  public List<Entries> read() {
    List<Entries> entries = new ArrayList<>();
    for (var message : memory.bytesOf()) {
      int count = format.readIndices(message, indices);
      format.readValues(message, values, count);
      try (var _ = TensorScope.open()) {
        var at = Tensors.empty(torch.ScalarType.Int, count);
        MemorySegment.copy(indices, 0, NativeView.of(at), ValueLayout.JAVA_INT, 0, count);
        entries.add(
            new Entries(
                TensorScope.keep(device.bring(at.to(torch.ScalarType.Long))),
                TensorScope.keep(device.bring(floats(count)))));
      }
    }
    return entries;
  }

  @Override
  public void close() {
    memory.free();
  }
}
