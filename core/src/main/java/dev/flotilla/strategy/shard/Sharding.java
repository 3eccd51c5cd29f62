package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Layout;
import dev.flotilla.arena.ParameterShare;
import dev.flotilla.collective.Collective;
import dev.flotilla.model.Model;
import dev.flotilla.settings.ByteSize;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Remedy;
import dev.flotilla.settings.Setting;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.wire.Dtype;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lets each rank keep a slice of what all ranks would hold alike (Rajbhandari et al., 2020,
 * "ZeRO").
 *
 * <p>Stage 1: a rank keeps the optimizer's memory for its slices alone. Buckets of gradients are
 * reduced and scattered as backward completes them, each rank updates its slices, and parameters
 * are gathered, those of the first segments first, while the next forward pass begins.
 *
 * <p>Stage 2: gradients are kept as slices too. A parameter's gradient is a tensor of its own until
 * its bucket has been reduced, so the gradients of every micro-step are reduced; with {@code
 * no_sync} they are added up whole until the window ends, which takes the memory of stage 1.
 *
 * <p>Stage 3: parameters are kept as slices too. Those of a segment are gathered before it runs,
 * forward and backward, and freed after.
 *
 * <p>Slices may lie beside the device, in memory of the host or in files: those of the optimizer,
 * or of parameters too.
 *
 * <p>Parameters may be bf16: then passes see rounded copies, whose gradients are bf16 too, and the
 * parameters themselves are float32 slices. Sums and updates are float32.
 *
 * @param stage what is sharded: 1 the optimizer's memory, 2 gradients too, 3 parameters too
 * @param noSync whether nothing is sent before an accumulation window ends
 * @param placement who decides what lies beside the device
 * @param offload what does, where the settings decide
 * @param keepGathered bytes of parameters that stay gathered from one use to the next, or null for
 *     none
 * @param offloadFolder where the files are that lie beside a CPU, or null for the usual place
 * @param parameters what passes compute with and ranks send each other: fp32 or bf16
 */
@Remedy.Offer(value = Remedy.SHARDED_STATE, as = "%s: {stage: 3}")
@Remedy.Offer(
    value = Remedy.STATE_BESIDE_DEVICE,
    as = "%s: {stage: 3, offload: optimizer+parameters}")
@Remedy.Offer(value = Remedy.WHOLE_GRADIENTS, as = "%s of stage 1 or its no_sync")
public record Sharding(
    @Setting(
            doc =
                "what each rank keeps slices of: 1 the optimizer's memory, 2 gradients too, 3"
                    + " parameters too",
            def = "1")
        int stage,
    @Setting(
            doc = "stage 2: send nothing before a window ends, and keep whole gradients till then",
            def = "false")
        boolean noSync,
    @Setting(
            doc =
                "static: as offload says; auto: only those optimizer slices leave the device that"
                    + " do not fit",
            def = "static")
        Placement placement,
    @Setting(
            doc =
                "what lies in host memory (GPU) or in files (CPU): none, optimizer or"
                    + " optimizer+parameters",
            def = "none")
        Offload offload,
    @Setting(
            doc = "stage 3: bytes of parameters that stay gathered until the update; null for none",
            def = "null")
        @Nullable ByteSize keepGathered,
    @Setting(doc = "folder for the files of offload on a CPU; null for /var/tmp", def = "null")
        @Nullable Path offloadFolder,
    @Setting(
            doc =
                "type of parameters and gradients in passes and on the wire; bf16 keeps a float32"
                    + " master in slices",
            def = "fp32",
            words = {"fp32", "bf16"})
        Dtype parameters)
    implements Strategy {

  /** Checks the settings. */
  public Sharding {
    Check.that(stage >= 1 && stage <= 3, "stage", "must be 1, 2 or 3", stage)
        .and(
            !noSync || stage == 2,
            "no_sync",
            "goes with stage 2: stage 1 sends nothing before a window ends, stage 3 has to",
            noSync)
        .and(
            placement == Placement.STATIC || offload == Offload.NONE,
            "offload",
            "goes with placement: static; auto finds out by itself what has no room",
            offload)
        .and(
            offload != Offload.OPTIMIZER_AND_PARAMETERS || stage == 3,
            "offload",
            "moves parameters at stage 3 alone, where they are slices",
            offload)
        .and(
            keepGathered == null || stage == 3,
            "keep_gathered",
            "goes with stage 3, which alone gathers parameters for each use",
            keepGathered == null ? "null" : keepGathered.text())
        .and(
            parameters == Dtype.FP32 || parameters == Dtype.BF16,
            "parameters",
            "must be fp32 or bf16, as gradients of fp16 parameters would overflow or vanish",
            parameters.word())
        .orThrow();
  }

  /** Shards up to a stage. */
  public Sharding(int stage) {
    this(stage, false);
  }

  /** Shards up to a stage, with everything on the device. */
  public Sharding(int stage, boolean noSync) {
    this(stage, noSync, Placement.STATIC, Offload.NONE, null, null, Dtype.FP32);
  }

  /** Returns the same with slices beside the device. */
  public Sharding withOffload(Offload slices) {
    return new Sharding(
        stage, noSync, Placement.STATIC, slices, keepGathered, offloadFolder, parameters);
  }

  /** Returns the same with as many optimizer slices on the device as find room there. */
  public Sharding withPlacement(Placement by) {
    return new Sharding(stage, noSync, by, offload, keepGathered, offloadFolder, parameters);
  }

  /** Returns the same with so many bytes of parameters that stay gathered until the update. */
  public Sharding withKeepGathered(ByteSize size) {
    return new Sharding(stage, noSync, placement, offload, size, offloadFolder, parameters);
  }

  /** Returns the same with files of offload in another folder. */
  public Sharding withOffloadFolder(Path folder) {
    return new Sharding(stage, noSync, placement, offload, keepGathered, folder, parameters);
  }

  /** Returns the same with parameters and gradients of another type, and float32 slices. */
  public Sharding withParameters(Dtype type) {
    return new Sharding(stage, noSync, placement, offload, keepGathered, offloadFolder, type);
  }

  /** Tells whether passes compute with parameters of 16 bits. */
  boolean hasHalves() {
    return parameters.isHalf();
  }

  /** Tells whether gradients are kept as slices. */
  boolean keepsSlices() {
    return stage == 3 || (stage == 2 && !noSync);
  }

  @Override
  public String key() {
    return "sharding";
  }

  @Override
  public List<Claim> claims() {
    return ShardingClaims.of(this);
  }

  @Override
  public Optional<ParameterShare> share(Model model, Layout layout, Collective peers) {
    return new ShardedState(this).share(model, layout, peers);
  }

  @Override
  public Optional<String> unclaimed(Phase phase) {
    return phase == Phase.BUCKETS
        ? Optional.of("units of at most 2 Mi elements, while backward goes on")
        : Optional.empty();
  }

  @Override
  public Workers workers(StepContext context) {
    return new ShardedState(this).workers(context);
  }

  @Override
  public Set<Property> properties() {
    return Set.of(Property.SHARDS_STATE);
  }

  @Override
  public Map<Property, String> contradicts() {
    Map<Property, String> reasons = new EnumMap<>(Property.class);
    reasons.put(
        Property.KEEPS_RESIDUALS,
        "a rank that holds slices of the sums has no whole gradient to keep the rest of");
    reasons.put(
        Property.LETS_EACH_RANK_DIFFER,
        "slices of one model are spread over ranks that must hold the same one");
    return reasons;
  }

  @Override
  public List<PlanIssue> issues(PlanFacts facts) {
    return new ShardingIssues(this, facts).all();
  }
}
