package dev.flotilla.strategy.recompute;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorWindow;
import dev.flotilla.model.Model;
import dev.flotilla.model.Segment;
import dev.flotilla.pass.CheckpointingPolicy;
import dev.flotilla.pass.SavedTensorStore;
import dev.flotilla.settings.ByteSize;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Remedy;
import dev.flotilla.settings.Setting;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.ForwardStage;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.text.NearestName;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the outputs of some segments only, and runs the segments between them again in backward
 * (Chen et al., 2016, "Training Deep Nets with Sublinear Memory Cost").
 *
 * <p>With A bytes kept inside a segment and a bytes between two segments, n segments need n · a + A
 * instead of n · (a + A), for one more forward pass of all but the last: (T_b + 2 T_f) / (T_b +
 * T_f), about 4/3, and less where segments have an {@link dev.flotilla.model.FinalFunction}.
 * Gradients are the same to the bit: the second run draws the same random numbers in the same
 * dtypes, and moves no running statistics.
 *
 * @param checkpoints segments whose outputs are kept, or auto; null where {@code every} is stated
 * @param every keeps every n-th segment's output; null with {@code checkpoints}
 * @param memory bytes that activations may take, for auto; null for what is free
 * @param offload whether what is kept waits elsewhere until backward: in a file, or for a GPU in
 *     pinned main memory
 * @param keepAttention whether what attention gives is kept as well
 * @param keepProducts bytes that products of the last recomputed segments may take, which then need
 *     not be computed again; null for none
 */
@Remedy.Offer(Remedy.FEWER_SAVED_TENSORS)
public record Recompute(
    @Setting(
            doc = "segments whose outputs are kept, or auto for the best under memory",
            insteadOf = "every")
        @Nullable CheckpointNames checkpoints,
    @Setting(doc = "keep the output of every n-th segment", insteadOf = "checkpoints")
        @Nullable Integer every,
    @Setting(
            doc =
                "with checkpoints: auto, bytes for activations, as 500MB; by default 80 % of what"
                    + " is free",
            def = "null")
        @Nullable ByteSize memory,
    @Setting(
            doc =
                "keep saved outputs in a mapped file until backward needs them; of those on a GPU,"
                    + " three of four in main memory",
            def = "false")
        boolean offload,
    @Setting(
            doc = "keep the output of attention as well, so that attention runs once",
            def = "false")
        boolean keepAttention,
    @Setting(
            doc =
                "with every or named checkpoints, bytes for products of the last recomputed"
                    + " segments, which are not computed again then, as 8GiB",
            def = "null")
        @Nullable ByteSize keepProducts)
    implements Strategy {

  /** Checks the settings. */
  public Recompute {
    boolean one = (checkpoints == null) != (every == null);
    boolean isAuto = checkpoints != null && checkpoints.isAuto();
    Check.that(one, "checkpoints", "must be stated, or every, but not both", "" + checkpoints)
        .and(every == null || every >= 1, "every", "must be at least 1", "" + every)
        .and(
            memory == null || isAuto,
            "memory",
            "goes with checkpoints: auto only; without it the checkpoints decide",
            "" + memory)
        .and(
            !keepAttention || !isAuto,
            "keep_attention",
            "goes with every or named checkpoints; a plan decides by itself",
            keepAttention)
        .and(
            keepProducts == null || !isAuto,
            "keep_products",
            "goes with every or named checkpoints; a plan decides by itself",
            "" + keepProducts)
        .orThrow();
  }

  /** Keeps the outputs of the named segments. */
  public Recompute(String... checkpoints) {
    this(CheckpointNames.parse(String.join(",", checkpoints)), null, null, false, false, null);
  }

  /** Keeps the output of every n-th segment. */
  public static Recompute every(int segments) {
    return new Recompute(null, segments, null, false, false, null);
  }

  /** Finds what to keep so that activations take at most so many bytes. */
  public static Recompute auto(long bytes) {
    return new Recompute(CheckpointNames.AUTO, null, new ByteSize(bytes), false, false, null);
  }

  /** Lets what is kept wait elsewhere until backward. */
  public Recompute offloaded() {
    return new Recompute(checkpoints, every, memory, true, keepAttention, keepProducts);
  }

  /** Keeps what attention gives as well. */
  public Recompute keepingAttention() {
    return new Recompute(checkpoints, every, memory, offload, true, keepProducts);
  }

  /** Keeps products of the last recomputed segments as well, up to so many bytes. */
  public Recompute keepingProducts(long bytes) {
    return new Recompute(checkpoints, every, memory, offload, keepAttention, new ByteSize(bytes));
  }

  @Override
  public String key() {
    return "recompute";
  }

  @Override
  public List<Claim> claims() {
    return List.of(new Claim(ForwardStage.RECOMPUTE, description()));
  }

  @Override
  public Workers workers(StepContext context) {
    return new Workers().checkpointing(checkpointing(context));
  }

  @Override
  public Set<Property> properties() {
    return Set.of(Property.RECOMPUTES_FORWARD);
  }

  private String description() {
    String what = every == null ? "outputs of " + checkpoints : "every " + every + ". segment";
    String where =
        (keepAttention ? " and attention" : "")
            + (keepProducts == null ? "" : " and %s of products".formatted(keepProducts))
            + (offload ? ", offloaded" : "");
    return checkpoints != null && checkpoints.isAuto()
        ? "keep what fits%s into %s, recompute the rest"
            .formatted(where, memory == null ? "free memory" : memory)
        : "keep %s%s, recompute the rest".formatted(what, where);
  }

  private CheckpointingPolicy checkpointing(StepContext context) {
    var savedTensorStore = offload ? store(context.model().device()) : null;
    if (checkpoints != null && checkpoints.isAuto()) {
      return new PlannedCheckpointing(budget(context), savedTensorStore, context.measured());
    }
    if (keepAttention
        && context.model().parts().stream().allMatch(it -> it.part().customFunction() == null)) {
      context
          .notices()
          .accept("recompute.keep_attention has no effect: the model has no attention");
    }
    var segments = context.model().segmentNames();
    return FixedCheckpointing.after(
        kept(segments),
        context.model(),
        savedTensorStore,
        keepAttention,
        keepProducts == null ? null : new TensorWindow(keepProducts.bytes()),
        context.notices());
  }

  private static SavedTensorStore store(ComputeDevice device) {
    return device.isCuda() ? new PinnedStore(device) : new SpillFile();
  }

  private long budget(StepContext context) {
    return memory == null
        ? FreeMemory.forActivations(
            context.model().device(), context.ranksOnHost(), context.collective())
        : memory.bytes();
  }

  /** Returns the numbers of the segments whose outputs are kept; never the last one's. */
  private List<Integer> kept(List<String> segments) {
    List<Integer> kept = new ArrayList<>();
    for (int i = 0; i < segments.size() - 1; i++) {
      boolean isKept =
          every == null
              ? Objects.requireNonNull(checkpoints).names().contains(segments.get(i))
              : (i + 1) % every == 0;
      if (isKept) {
        kept.add(i);
      }
    }
    return kept;
  }

  @Override
  public List<PlanIssue> issues(PlanFacts facts) {
    var names = names(facts.model());
    if (names.size() == 1) {
      return List.of(
          PlanIssue.error(
              "recompute needs a model of several segments, but %s has one"
                  .formatted(facts.model().name()),
              "state the model as segments, or remove recompute"));
    }
    if (every != null) {
      return every < names.size() ? List.of() : List.of(noEffect(names));
    }
    return Objects.requireNonNull(checkpoints).isAuto()
        ? List.of()
        : named(checkpoints.names(), names);
  }

  private PlanIssue noEffect(List<String> names) {
    return PlanIssue.warning(
        "recompute has no effect: the model has %d segments, and the last span runs once"
            .formatted(names.size()),
        "set every to less than " + names.size());
  }

  private static List<PlanIssue> named(List<String> wanted, List<String> names) {
    List<PlanIssue> issues = new ArrayList<>();
    for (var name : wanted) {
      if (!names.contains(name)) {
        issues.add(
            PlanIssue.error(
                "recompute.checkpoints names %s, which is no segment%s"
                    .formatted(name, NearestName.hint(name, names)),
                "segments: " + String.join(", ", names)));
      } else if (name.equals(names.getLast())) {
        issues.add(
            PlanIssue.warning(
                "recompute.checkpoints names the last segment, which is never recomputed: backward"
                    + " begins there",
                "remove " + name));
      }
    }
    return issues;
  }

  private static List<String> names(Model model) {
    return model.segments().stream().map(Segment::name).toList();
  }
}
