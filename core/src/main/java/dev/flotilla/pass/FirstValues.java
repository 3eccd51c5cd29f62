package dev.flotilla.pass;

import dev.flotilla.arena.ParameterArena;
import dev.flotilla.arena.Section;
import dev.flotilla.arena.Slot;
import dev.flotilla.memory.ComputeDevice;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

/**
 * What trainable parameters start from: values drawn from the seed, unless a user's module has
 * brought its own.
 */
final class FirstValues {

  /** Bytes of parameters whose values are drawn at once. */
  private static final long DRAWN_ON_DEVICE = 1L << 30;

  private static final long DRAWN_ON_HOST = 1L << 26;

  private final ParameterArena arena;
  private final Initialization initialization;
  private final long drawnAtOnce;
  private final Set<String> brought = new HashSet<>();

  FirstValues(ParameterArena arena, Initialization initialization, ComputeDevice device) {
    this.arena = arena;
    this.initialization = initialization;
    this.drawnAtOnce = device.isCuda() ? DRAWN_ON_DEVICE : DRAWN_ON_HOST;
  }

  /** Says that a parameter has its values already. */
  void areBrought(String name) {
    brought.add(name);
  }

  /**
   * Writes the values. Where this rank keeps a share, only a few sections have memory at a time, so
   * many that all cores have something to draw.
   *
   * @param more may change the values of each section before they count
   */
  void write(Consumer<Section> more) {
    List<Section> open = new ArrayList<>();
    long bytes = 0;
    for (var section : arena.sections()) {
      long added = section.range().length() * arena.layout().precision().bytes();
      if (!open.isEmpty() && bytes + added > drawnAtOnce) {
        write(open, more);
        open.clear();
        bytes = 0;
      }
      open.add(section);
      bytes += added;
    }
    write(open, more);
  }

  private void write(List<Section> sections, Consumer<Section> more) {
    sections.forEach(Section::allocate);
    var drawn =
        sections.stream()
            .flatMap(section -> arena.layout().in(section.range()).stream())
            .map(Slot::spec)
            .filter(spec -> !brought.contains(spec.name()))
            .toList();
    initialization.writeInto(drawn, name -> Objects.requireNonNull(arena.weights().get(name)));
    for (var section : sections) {
      more.accept(section);
      arena.takeValues(section);
      if (arena.keptValues().isPresent()) {
        section.free();
      }
    }
  }
}
