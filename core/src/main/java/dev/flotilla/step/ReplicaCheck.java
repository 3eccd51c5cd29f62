package dev.flotilla.step;

import dev.flotilla.arena.ParameterArena;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * Makes sure that all ranks still hold the same parameters, to the bit.
 *
 * <p>Costs one pass over the parameters and one gather of 8 bytes per rank.
 */
public final class ReplicaCheck {

  private static final long CHUNK = 1L << 30;

  private final ParameterArena arena;
  private final Collective collective;

  /** Creates the check of an arena. */
  public ReplicaCheck(ParameterArena arena, Collective collective) {
    this.arena = arena;
    this.collective = collective;
  }

  /**
   * Compares the ranks; all of them call it together.
   *
   * @param updates updates made, for the message
   * @throws NumericalException on all ranks if they differ, with ranks and tensor
   */
  public void compare(long updates) {
    if (collective.size() == 1 || odd(gather(checksum(0, arena.layout().length()))).isEmpty()) {
      return;
    }
    throw new NumericalException(
        ("after update %d the ranks hold different parameters: %s; memory or a link is"
                + " faulty, or a program has changed them on one rank")
            .formatted(updates, firstDifference()));
  }

  private String firstDifference() {
    for (var slot : arena.layout().slots()) {
      var odd = odd(gather(checksum(slot.offset(), slot.length())));
      if (!odd.isEmpty()) {
        return "rank %s in %s".formatted(joined(odd), slot.spec().name());
      }
    }
    return "outside all parameters";
  }

  private static String joined(List<Integer> ranks) {
    return ranks.stream()
        .map(String::valueOf)
        .collect(java.util.stream.Collectors.joining(" and "));
  }

  private long checksum(long offset, long length) {
    var crc = new CRC32C();
    long size = arena.layout().precision().bytes();
    for (long from = 0; from < length * size; from += CHUNK) {
      long bytes = Math.min(CHUNK, length * size - from);
      try (var _ = TensorScope.open()) {
        var part = arena.values().narrow(0, offset + from / size, bytes / size);
        crc.update(NativeView.of(ComputeDevice.CPU.bring(part)).asByteBuffer());
      }
    }
    return crc.getValue();
  }

  private List<Long> gather(long own) {
    List<Long> all = new ArrayList<>();
    try (var _ = TensorScope.open()) {
      var whole = Tensors.ofLongs(new long[collective.size()]);
      collective.allGather(whole, Tensors.ofLongs(own), Traffic.SCALAR).await();
      var view = NativeView.of(whole);
      for (int rank = 0; rank < collective.size(); rank++) {
        all.add(view.getAtIndex(ValueLayout.JAVA_LONG, rank));
      }
    }
    return all;
  }

  /** Returns the ranks outside the majority; all ranks where there is none; none if all agree. */
  private static List<Integer> odd(List<Long> checksums) {
    Map<Long, Integer> votes = new HashMap<>();
    checksums.forEach(checksum -> votes.merge(checksum, 1, Integer::sum));
    List<Integer> odd = new ArrayList<>();
    for (int rank = 0; votes.size() > 1 && rank < checksums.size(); rank++) {
      if (votes.getOrDefault(checksums.get(rank), 0) * 2 <= checksums.size()) {
        odd.add(rank);
      }
    }
    return odd;
  }
}
