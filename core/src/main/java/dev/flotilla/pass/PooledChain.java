package dev.flotilla.pass;

import dev.flotilla.collective.Collective;
import dev.flotilla.data.Batch;
import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.AutogradFunction;
import dev.flotilla.model.Gradient;
import dev.flotilla.model.LossTerms;
import dev.flotilla.model.Part;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Runs batches breadth-first, part by part, so that every BatchNorm sees all of them on all ranks.
 *
 * <p>Keeps what passes between parts for all batches, and either each part's graph or nothing else,
 * in which case backward runs every part a second time.
 *
 * <p>A rank without a batch goes along: others wait for its part in the statistics, and for the
 * parameters that it has.
 */
public final class PooledChain implements ForwardBackward {

  private final BoundModel model;
  private final SegmentChain chain;
  private final PartRunner parts;
  private final SpanRunner spanRunner;
  private final Collective collective;
  private final boolean keepsGraphs;
  private final List<Stage> stages = new ArrayList<>();
  private torch.@Nullable ScalarType autocast;

  public PooledChain(
      BoundModel model, SegmentChain chain, Collective collective, boolean keepsGraphs) {
    this.model = model;
    this.chain = chain;
    this.parts = chain.parts();
    this.spanRunner = new SpanRunner(parts);
    this.collective = collective;
    this.keepsGraphs = keepsGraphs;
  }

  @Override
  public List<LossTerms> forward(List<Batch> batches, MicroStep step) {
    clear();
    model.gate().beginForward();
    autocast = Autocast.current(parts.device());
    long firstStep = step.index() - Math.max(0, batches.size() - 1);
    var lanes = batches.stream().map(parts::inputs).toList();
    for (int part = 0; part < model.parts().size(); part++) {
      var stage = new Stage(part, firstStep, lanes);
      stages.add(stage);
      stage.forward();
      lanes = stage.outputs();
    }
    List<LossTerms> losses = new ArrayList<>();
    for (int lane = 0; lane < batches.size(); lane++) {
      losses.add(chain.loss(lanes.get(lane), batches.get(lane)));
    }
    return losses;
  }

  @Override
  public void backward(List<LossTerms> losses, MicroStep step) {
    losses.forEach(loss -> loss.sum().backward());
    spanRunner.leavingNoTrace(
        () -> {
          while (!stages.isEmpty()) {
            stages.getLast().backward();
            stages.removeLast().close();
          }
        });
    AutogradFunction.backwardEnded();
  }

  /** Drops what a pass that has failed left behind. */
  public void clear() {
    stages.forEach(Stage::close);
    stages.clear();
  }

  /** One part with all its batches. */
  private final class Stage implements AutoCloseable {

    private final int index;
    private final Part part;
    private final long firstStep;
    private final List<Activations> inputs;
    private final List<Moments> moments = new ArrayList<>();
    private final List<SpanOutputs> lanes = new ArrayList<>();

    Stage(int index, long firstStep, List<Activations> inputs) {
      this.index = index;
      this.part = model.parts().get(index).part();
      this.firstStep = firstStep;
      this.inputs = inputs;
    }

    private int segment() {
      return model.parts().get(index).segment();
    }

    List<Activations> outputs() {
      return lanes.stream().map(SpanOutputs::pause).toList();
    }

    void forward() {
      model.gate().enter(segment());
      part.pooled().forEach(pooled -> moments.add(pool(pooled)));
      give();
      try {
        for (int lane = 0; lane < inputs.size(); lane++) {
          forward(lane);
        }
      } finally {
        takeBack();
      }
      for (int i = 0; i < moments.size(); i++) {
        moments.get(i).follow(part.pooled().get(i).statistics());
      }
    }

    private Moments pool(Part.Pooled pooled) {
      return new Moments(
          inputs.stream().map(input -> input.tensors().get(pooled.input())).toList(),
          pooled.statistics().channels(),
          model.precision().scalarType(),
          collective,
          model.device());
    }

    private void give() {
      for (int i = 0; i < moments.size(); i++) {
        moments.get(i).giveTo(part.pooled().get(i).statistics());
      }
    }

    private void takeBack() {
      part.pooled().forEach(pooled -> pooled.statistics().takeBack());
    }

    private void forward(int lane) {
      var span = new Span(index, index + 1, !keepsGraphs);
      lanes.add(spanRunner.forward(span, inputs.get(lane), firstStep + lane, SavedOutputs.none()));
    }

    void backward() {
      model.gate().enterBackward(segment(), segment());
      give();
      try {
        for (int lane = 0; lane < lanes.size(); lane++) {
          backward(lane);
        }
      } finally {
        takeBack();
      }
      for (int i = 0; i < moments.size(); i++) {
        spread(moments.get(i), part.pooled().get(i).input());
      }
    }

    private void backward(int lane) {
      try (var _ = TensorScope.open()) {
        var outputs = lanes.get(lane);
        var gradients = outputs.takeGradients();
        var graph = outputs.graph();
        SpanRunner.backward(
            graph == null
                ? recompute(lane, outputs, gradients)
                : SpanRunner.paired(graph, gradients));
      }
    }

    private List<Gradient> recompute(int lane, SpanOutputs outputs, List<Tensor> gradients) {
      var recomputed = spanRunner.recompute(outputs, inputs.get(lane), firstStep + lane, autocast);
      return spanRunner.backward(outputs, recomputed.outputs(), gradients);
    }

    /** Adds what reaches the inputs by way of the statistics. */
    private void spread(Moments pooled, int input) {
      pooled.reduceGradients();
      for (var lane : inputs) {
        var x = lane.tensors().get(input);
        if (x.requires_grad()) {
          try (var _ = TensorScope.open()) {
            var gradient = pooled.through(x);
            x.mutable_grad().put(x.grad().defined() ? x.grad().add(gradient) : gradient);
          }
        }
      }
    }

    @Override
    public void close() {
      lanes.forEach(SpanOutputs::close);
      moments.forEach(Moments::close);
    }
  }
}
