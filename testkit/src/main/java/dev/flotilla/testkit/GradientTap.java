package dev.flotilla.testkit;

import dev.flotilla.arena.Gradients;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.GradientStage;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.Strategy;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.bytedeco.pytorch.global.torch;

/** A technique that copies the gradient of every update, just before it is applied. */
public final class GradientTap implements Strategy {

  private final List<Map<String, double[]>> updates = new ArrayList<>();

  @Override
  public String key() {
    return "gradient_tap";
  }

  @Override
  public List<Claim> claims() {
    return List.of(new Claim(Phase.REFINE, GradientStage.CLIP, "copy"));
  }

  @Override
  public Workers workers(StepContext context) {
    return new Workers().refine(GradientStage.CLIP, (_, _) -> copy(context.arena().gradients()));
  }

  private boolean copy(Gradients gradients) {
    Map<String, double[]> byName = new HashMap<>();
    try (var _ = TensorScope.open()) {
      var flat = gradients.values().to(torch.ScalarType.Double);
      var all = dev.flotilla.memory.NativeView.of(flat).toArray(ValueLayout.JAVA_DOUBLE);
      for (var slot : gradients.layout().slots()) {
        int from = (int) slot.offset();
        byName.put(
            slot.spec().name(),
            java.util.Arrays.copyOfRange(all, from, from + (int) slot.length()));
      }
    }
    return updates.add(byName);
  }

  /** Returns the gradients of all updates so far, by parameter. */
  public List<Map<String, double[]>> updates() {
    return updates;
  }

  /** Returns the largest ‖Δ‖ / ‖g‖ over all updates and tensors. */
  public static double distance(
      List<Map<String, double[]>> ours, List<Map<String, double[]>> theirs) {
    if (ours.size() != theirs.size()) {
      throw new IllegalArgumentException(ours.size() + " updates against " + theirs.size());
    }
    double worst = 0;
    for (int i = 0; i < ours.size(); i++) {
      for (var entry : theirs.get(i).entrySet()) {
        var own = Objects.requireNonNull(ours.get(i).get(entry.getKey()), entry.getKey());
        worst = Math.max(worst, distance(own, entry.getValue()));
      }
    }
    return worst;
  }

  private static double distance(double[] ours, double[] theirs) {
    double difference = 0;
    double size = 0;
    for (int i = 0; i < theirs.length; i++) {
      difference += (ours[i] - theirs[i]) * (ours[i] - theirs[i]);
      size += theirs[i] * theirs[i];
    }
    return difference == 0 ? 0 : Math.sqrt(difference / size);
  }
}
