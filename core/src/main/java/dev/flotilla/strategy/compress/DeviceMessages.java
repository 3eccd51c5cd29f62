package dev.flotilla.strategy.compress;

import dev.flotilla.memory.TensorScope;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/** The messages of a bucket that lies on a device. */
interface DeviceMessages extends AutoCloseable {

  /**
   * What one rank has sent.
   *
   * @param indices ascending, as int64 on the device
   * @param values as every rank reads them
   */
  record Entries(Tensor indices, Tensor values) {

    void free() {
      TensorScope.free(indices);
      TensorScope.free(values);
    }
  }

  /** Returns this rank's message. */
  Tensor message();

  /** Returns room for the messages of all ranks. */
  Tensor messages();

  /** Writes this rank's message, and leaves in {@code values} what the readers will see. */
  void write(Tensor indices, Tensor values);

  /** Reads the messages of all ranks; the caller frees the entries. */
  List<Entries> read();

  @Override
  void close();
}
