package dev.flotilla.collective;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;
import org.bytedeco.pytorch.Backend;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.Work;
import org.bytedeco.pytorch.global.torch;

/**
 * Sends every other rank of a group some bytes, the same number to each, and receives theirs.
 *
 * @param group the group
 * @param rank this rank
 * @param length number of bytes
 */
record PairExchange(NativeGroup group, int rank, int length) {

  /**
   * Returns what the other ranks have sent.
   *
   * @throws RuntimeException if one does not in time
   */
  Map<Integer, byte[]> swap(IntFunction<byte[]> valueFor, Duration longest) {
    return swap(valueFor, group::nextTag, longest);
  }

  /**
   * Returns what the other ranks have sent.
   *
   * @param tags numbers of the messages, the same on all ranks
   * @throws RuntimeException if one does not in time
   */
  Map<Integer, byte[]> swap(IntFunction<byte[]> valueFor, IntSupplier tags, Duration longest) {
    try (var _ = TensorScope.open()) {
      int size = group.roster().size();
      var received = new HashMap<Integer, Tensor>();
      List<Function<Backend, Work>> receipts = new ArrayList<>();
      List<Function<Backend, Work>> sends = new ArrayList<>();
      for (int away = 1; away < size; away++) {
        int from = Math.floorMod(rank - away, size);
        int to = (rank + away) % size;
        int tag = tags.getAsInt();
        var target = tensor(new byte[length]);
        received.put(from, target);
        var source = tensor(valueFor.apply(to));
        receipts.add(it -> it.recv(new TensorVector(target), from, tag));
        sends.add(it -> it.send(new TensorVector(source), to, tag));
      }
      receipts.addAll(sends);
      group.exchange(receipts, longest);
      var values = new TreeMap<Integer, byte[]>();
      received.forEach((peer, tensor) -> values.put(peer, bytes(tensor)));
      return values;
    }
  }

  /**
   * Sends bytes to the rank that is so far away, and returns what came from the other side.
   *
   * @throws RuntimeException if that takes longer
   */
  byte[] pass(byte[] value, int away, int tag, Duration longest) {
    try (var _ = TensorScope.open()) {
      int size = group.roster().size();
      var target = tensor(new byte[0]);
      var source = tensor(value);
      int from = Math.floorMod(rank - away, size);
      int to = (rank + away) % size;
      group.exchange(
          List.of(
              it -> it.recv(new TensorVector(target), from, tag),
              it -> it.send(new TensorVector(source), to, tag)),
          longest);
      return bytes(target);
    }
  }

  private Tensor tensor(byte[] bytes) {
    var tensor = Tensors.zeros(torch.ScalarType.Byte, length);
    NativeView.of(tensor).asByteBuffer().put(bytes, 0, Math.min(bytes.length, length));
    return tensor;
  }

  private byte[] bytes(Tensor tensor) {
    var bytes = new byte[length];
    NativeView.of(tensor).asByteBuffer().get(bytes);
    return bytes;
  }
}
