package dev.flotilla.strategy.shard;

import dev.flotilla.arena.KeptSlices;
import dev.flotilla.arena.Section;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.strategy.shard.Slicing.Unit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/** The parameters' sections, which are gathered from the slices of all ranks, and freed again. */
final class GatheredSections {

  private final Collective group;
  private final KeptSlices kept;
  private final Traffic ofAbsent;
  private final List<Section> sections;
  private final List<List<Unit>> units;
  private final Map<Integer, List<Pending>> underWay = new HashMap<>();

  /**
   * Takes sections of which nothing is gathered.
   *
   * @param kept this rank's slices
   * @param ofAbsent as what it counts to gather a section that is not there
   */
  GatheredSections(
      Collective group,
      KeptSlices kept,
      List<Section> sections,
      Slicing slicing,
      Traffic ofAbsent) {
    this.group = group;
    this.ofAbsent = ofAbsent;
    this.kept = kept;
    this.sections = sections;
    this.units = sections.stream().map(section -> slicing.in(section.range())).toList();
  }

  List<Section> all() {
    return sections;
  }

  /** Starts to gather a section that is not there; all ranks do so in the same order. */
  void start(int section) {
    if (!sections.get(section).isPresent()) {
      gather(section, ofAbsent);
    }
  }

  /**
   * Starts to gather a section, over what may be there from before; all ranks do so in the same
   * order.
   */
  private void renew(int section) {
    await(section);
    gather(section, Traffic.EXCHANGE);
  }

  private void gather(int section, Traffic traffic) {
    sections.get(section).allocate();
    List<Pending> arrivals = new ArrayList<>();
    underWay.put(section, arrivals);
    try (var _ = TensorScope.open()) {
      var whole = sections.get(section).values();
      long offset = sections.get(section).range().offset();
      for (var unit : units.get(section)) {
        var place = unit.range().of(whole, offset);
        // A slice may lie beside the device, or have more bits than what is gathered of it; it
        // travels from its place in the whole.
        var slice = unit.slices().slice(place, group.rank());
        kept.of(unit.of(group.rank())).ifPresent(it -> slice.copy_(it, true));
        arrivals.add(group.allGather(place, slice, unit.slices(), traffic));
      }
    }
  }

  /** Gathers sections that are not there, and waits for all of them. */
  void bring(List<Integer> wanted) {
    wanted.forEach(this::start);
    wanted.forEach(this::await);
  }

  void bringAll() {
    bring(IntStream.range(0, sections.size()).boxed().toList());
  }

  private void await(int section) {
    var arrivals = underWay.remove(section);
    if (arrivals != null) {
      arrivals.forEach(Pending::await);
    }
  }

  /** Waits for all that are under way. */
  void settle() {
    List.copyOf(underWay.keySet()).forEach(this::await);
  }

  void renewAll() {
    IntStream.range(0, sections.size()).forEach(this::renew);
  }

  /** Frees what is not needed, but for what is still under way. */
  void freeUnless(IntPredicate isNeeded) {
    for (int section = 0; section < sections.size(); section++) {
      if (!isNeeded.test(section) && !underWay.containsKey(section)) {
        sections.get(section).free();
      }
    }
  }

  void freeAll() {
    settle();
    sections.forEach(Section::free);
  }
}
