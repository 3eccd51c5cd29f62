package dev.flotilla.arena;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.StateMemory;
import dev.flotilla.memory.TensorScope;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * The flat tensors behind a model's trainable parameters and their gradients.
 *
 * <p>Parameters that passes compute with may have 16 bits: then they lie in sections of their own,
 * are rounded from what is kept of the others, and leave gradients of 16 bits, which are added up
 * in the arena's type.
 *
 * <p>Owns both tensors and the parameter handles; closing frees them.
 */
public final class ParameterArena implements AutoCloseable {

  private final Layout layout;
  private final ComputeDevice device;
  private final List<Section> sections = new ArrayList<>();
  private final List<Section> computed;
  private final boolean isWhole;
  private final boolean isHalf;
  private final Gradients gradients;
  private final Map<String, Tensor> parameters = new LinkedHashMap<>();
  private final Map<String, Tensor> weights;
  private final LeafGradients leaves;
  private final @Nullable KeptSlices keptValues;

  /** Allocates both tensors in main memory, filled with zeros. */
  public ParameterArena(Layout layout) {
    this(layout, ComputeDevice.CPU);
  }

  /** Allocates both tensors on a device, filled with zeros. */
  public ParameterArena(Layout layout, ComputeDevice device) {
    this(layout, device, List.of(new Range(0, layout.length())), null);
  }

  /**
   * Keeps a share of the parameters, and has the others in sections without memory until they are
   * gathered there; no gradients, until {@link #keepGradients} says which are kept.
   *
   * @param ranges of the sections; they cover the layout in its order, and cut no parameter
   */
  public static ParameterArena inSections(
      Layout layout, ComputeDevice device, List<Range> ranges, ParameterShare share) {
    return new ParameterArena(layout, device, ranges, share);
  }

  private ParameterArena(
      Layout layout, ComputeDevice device, List<Range> ranges, @Nullable ParameterShare share) {
    var event = new ArenaEvent(device.toString(), layout);
    this.layout = layout;
    this.device = device;
    isWhole = share == null;
    boolean addsAll = share == null || share.addsWholeGradients();
    gradients = new Gradients(layout, device, addsAll ? layout.length() : 0);
    var type = layout.precision().scalarType();
    isHalf = share != null && share.computed() != type;
    leaves = new LeafGradients(layout, device, gradients, parameters, isHalf);
    computed = isHalf ? new ArrayList<>() : sections;
    weights = isHalf ? new LinkedHashMap<>() : parameters;
    for (var range : ranges) {
      var section = addSection(sections, range, type);
      if (share != null && isHalf) {
        layout.in(range).forEach(slot -> weights.put(slot.spec().name(), leaf(slot, section)));
        section.free();
        addSection(computed, range, share.computed());
      }
      var passing = computed.getLast();
      layout.in(range).forEach(slot -> parameters.put(slot.spec().name(), leaf(slot, passing)));
      if (share != null) {
        passing.free();
      }
    }
    keptValues =
        share == null ? null : new KeptSlices(layout, share.memory().apply(device), share.ranges());
    event.end(sections.size(), share == null ? layout.length() : lengthOf(share.ranges()));
  }

  private static long lengthOf(List<Range> ranges) {
    return ranges.stream().mapToLong(Range::length).sum();
  }

  private Section addSection(List<Section> all, Range range, torch.ScalarType type) {
    var section = new Section(range, type, device);
    all.add(section);
    return section;
  }

  private static Tensor leaf(Slot slot, Section section) {
    try (var _ = TensorScope.open()) {
      var flat = slot.range().of(section.flat(), section.range().offset());
      var leaf = flat.view(slot.spec().shape().toArray()).detach().set_requires_grad(true);
      return TensorScope.keep(leaf);
    }
  }

  /** Returns the parts that parameters lie in; one, unless they can be freed one by one. */
  public List<Section> sections() {
    return List.copyOf(sections);
  }

  /** Returns the parts that passes compute with: the same, or as many of 16 bits. */
  public List<Section> computedSections() {
    return List.copyOf(computed);
  }

  /** Tells whether passes compute with parameters of 16 bits. */
  public boolean isHalf() {
    return isHalf;
  }

  /** Returns a slot of a flat tensor in the parameter's shape. */
  static Tensor view(Tensor flat, Slot slot) {
    return flat.narrow(0, slot.offset(), slot.length()).view(slot.spec().shape().toArray());
  }

  /** Returns where each parameter lies. */
  public Layout layout() {
    return layout;
  }

  /** Returns where the first trainable parameter lies; 0 if there is none. */
  public long address() {
    for (var parameter : parameters.values()) {
      try (var first = parameter.data_ptr()) {
        return first.address();
      }
    }
    return 0;
  }

  /**
   * Returns the flat tensor of all values; it has no graph.
   *
   * @throws IllegalStateException if they lie in sections
   */
  public Tensor values() {
    if (!isWhole) {
      throw new IllegalStateException("parameters lie in sections, not in one tensor");
    }
    return sections.getFirst().flat();
  }

  /** Returns memory like that of parameters, with undefined contents. */
  public Tensor empty(long elements) {
    return device.empty(layout.precision().scalarType(), elements);
  }

  /** Returns what this rank keeps of the parameters where they lie in sections. */
  public Optional<KeptSlices> keptValues() {
    return Optional.ofNullable(keptValues);
  }

  /** Takes what is kept of a section from it. */
  public void takeValues(Section section) {
    keptValues()
        .ifPresent(
            kept -> {
              try (var _ = TensorScope.open()) {
                clearGaps(section);
                kept.takeFrom(section);
              }
            });
  }

  /** Memory that was there for a while may hold anything between parameters. */
  private void clearGaps(Section section) {
    long end = section.range().offset();
    for (var slot : layout.in(section.range())) {
      clear(section, end, slot.offset());
      end = slot.range().end();
    }
    clear(section, end, section.range().end());
  }

  private static void clear(Section section, long from, long to) {
    if (from < to) {
      new Range(from, to - from).of(section.values(), section.range().offset()).zero_();
    }
  }

  /** Returns the memory that an update changes for a parameter; views of the scope that is open. */
  public List<Tensor> updatedValues(Slot slot) {
    return keptValues == null ? List.of(slot.range().of(values(), 0)) : keptValues.inside(slot);
  }

  /**
   * Returns the memory that an update changes in a part of the arena, which is kept as it is where
   * a share is; a view of the scope that is open.
   */
  public Tensor updatedValues(Range range) {
    return keptValues()
        .flatMap(kept -> kept.of(range))
        .map(Tensor::new)
        .orElseGet(() -> range.of(values(), 0));
  }

  /** Returns the gradients of this arena. */
  public Gradients gradients() {
    return gradients;
  }

  /** Returns what backward leaves at parameters, before it is in the arena. */
  public LeafGradients leaves() {
    return leaves;
  }

  /** Returns the parameters that passes compute with by name, in forward order. */
  public Map<String, Tensor> parameters() {
    return Collections.unmodifiableMap(parameters);
  }

  /** Returns the parameters that updates change by name, in forward order: what is saved. */
  public Map<String, Tensor> weights() {
    return Collections.unmodifiableMap(weights);
  }

  /** Makes a user's parameter live here, keeping its values. */
  public void adopt(String name, Tensor parameter) {
    var previous = parameters.get(name);
    if (previous == null) {
      throw new IllegalArgumentException("no parameter named " + name);
    }
    sections.stream()
        .filter(
            section ->
                layout.in(section.range()).stream().anyMatch(it -> it.spec().name().equals(name)))
        .forEach(Section::allocate);
    try (var _ = TensorScope.open()) {
      var place = Objects.requireNonNull(weights.get(name));
      place.detach().copy_(parameter.detach());
      parameter.set_data(previous.detach());
      // A module that an earlier trainer has used still holds that trainer's gradients.
      parameter.mutable_grad().put(new Tensor());
      parameters.put(name, TensorScope.keep(new Tensor(parameter)));
    }
    TensorScope.free(previous);
  }

  /**
   * Keeps slices of the gradients instead of all of them: each parameter's gradient is then a
   * tensor of its own, from the backward that makes it until it is dropped.
   *
   * @param memory where they lie; closed with them
   */
  public void keepGradients(List<Range> slices, StateMemory memory) {
    gradients.keepOnly(slices, memory);
  }

  @Override
  public void close() {
    leaves.close();
    if (isHalf) {
      weights.values().forEach(TensorScope::free);
      computed.forEach(Section::close);
    }
    parameters.values().forEach(TensorScope::free);
    gradients.close();
    if (keptValues != null) {
      keptValues.close();
    }
    sections.forEach(Section::close);
  }
}
