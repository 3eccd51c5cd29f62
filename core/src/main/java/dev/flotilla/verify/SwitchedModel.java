package dev.flotilla.verify;

import dev.flotilla.data.Batch;
import dev.flotilla.model.Activations;
import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.LossTerms;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.ObjectiveParts;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Part;
import dev.flotilla.model.Score;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Weights;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The user's model with a switch that makes it run as in evaluation, gradients included, and a
 * window on its last outputs.
 */
final class SwitchedModel implements Model {

  private final Model model;
  private boolean evaluating;
  private @Nullable Activations lastOutputs;

  SwitchedModel(Model model) {
    this.model = model;
  }

  /** Sets whether every forward runs as in evaluation, where dropout does nothing. */
  void evaluate(boolean wanted) {
    evaluating = wanted;
  }

  boolean isEvaluating() {
    return evaluating;
  }

  /** Tells whether the model keeps running statistics of batches. */
  boolean hasStatistics() {
    return buffers().stream().anyMatch(BufferSpec::isStatistic);
  }

  /** Returns the outputs of the last forward; they belong to its caller's scope. */
  Activations lastOutputs() {
    return Objects.requireNonNull(lastOutputs, "no forward has run");
  }

  LossTerms loss(Activations outputs, Batch batch) {
    return model.objective().loss(outputs, batch);
  }

  @Override
  public String name() {
    return model.name();
  }

  @Override
  public Set<String> frozen() {
    return model.frozen();
  }

  @Override
  public List<Segment> segments() {
    return model.segments().stream().<Segment>map(Switched::new).toList();
  }

  @Override
  public Objective objective() {
    return new Watched();
  }

  private final class Switched implements Segment {

    private final Segment segment;

    Switched(Segment segment) {
      this.segment = segment;
    }

    @Override
    public String name() {
      return segment.name();
    }

    @Override
    public List<ParameterSpec> parameters() {
      return segment.parameters();
    }

    @Override
    public List<BufferSpec> buffers() {
      return segment.buffers();
    }

    @Override
    public Forward bind(Weights weights) {
      return switched(segment.bind(weights));
    }

    @Override
    public List<Part> bindParts(Weights weights) {
      return segment.bindParts(weights).stream()
          .map(part -> new Part(part.name(), part.pooled(), switched(part.forward())))
          .toList();
    }

    private Forward switched(Forward forward) {
      return (input, mode) -> forward.apply(input, evaluating ? ForwardMode.EVALUATE : mode);
    }
  }

  private final class Watched implements Objective {

    @Override
    public LossTerms loss(Activations outputs, Batch batch) {
      lastOutputs = outputs;
      return model.objective().loss(outputs, batch);
    }

    @Override
    public Optional<ObjectiveParts> parts() {
      return model.objective().parts();
    }

    @Override
    public void requireTargets(Activations outputs, Batch batch) {
      model.objective().requireTargets(outputs, batch);
    }

    @Override
    public Score score(Activations outputs, Batch batch) {
      return model.objective().score(outputs, batch);
    }
  }
}
