package dev.flotilla.verify;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.Classification;
import dev.flotilla.model.LossTerms;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.Score;
import dev.flotilla.model.Segment;
import dev.flotilla.zoo.model.Mlp;
import java.util.List;
import org.bytedeco.pytorch.BatchNorm1dImpl;
import org.bytedeco.pytorch.BatchNormOptions;
import org.bytedeco.pytorch.DropoutImpl;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Models and losses with a planted fault each. */
final class FaultyModels {

  private FaultyModels() {}

  /** A user's module of two layers with something between them. */
  static final class Net extends Module {

    private final LinearImpl in = register_module("in", new LinearImpl(8, 16));
    private final LinearImpl out = register_module("out", new LinearImpl(16, 4));
    private final BatchNorm1dImpl norm;
    private final DropoutImpl dropout;
    private final Between between;

    /** What lies between the layers. */
    enum Between {
      NOTHING,
      BATCH_NORM,
      BATCH_NORM_WITHOUT_STATISTICS,
      DROPOUT,
      DROPOUT_ALWAYS,
      BATCH_NORM_AND_DROPOUT
    }

    Net(Between between) {
      this.between = between;
      var options = new BatchNormOptions(16);
      if (between == Between.BATCH_NORM_WITHOUT_STATISTICS) {
        options.track_running_stats().put(false);
      }
      norm = new BatchNorm1dImpl(options);
      dropout = register_module("dropout", new DropoutImpl(0.3));
      if (between.name().startsWith("BATCH_NORM")) {
        register_module("norm", norm);
      }
    }

    Model model() {
      return Model.of(this, (x, _) -> out.forward(between(in.forward(x).tanh())), CLASSES);
    }

    private Tensor between(Tensor x) {
      return switch (between) {
        case NOTHING -> x;
        case BATCH_NORM, BATCH_NORM_WITHOUT_STATISTICS -> norm.forward(x);
        case DROPOUT -> dropout.forward(x);
        case DROPOUT_ALWAYS -> torch.dropout(x, 0.3, true);
        case BATCH_NORM_AND_DROPOUT -> dropout.forward(norm.forward(x));
      };
    }
  }

  private static final Objective CLASSES = new Classification();

  /** A loss that is made from that of classes. */
  @FunctionalInterface
  interface Loss {
    LossTerms of(LossTerms right, Activations outputs);
  }

  /** A sound model with another loss. */
  static Model withLoss(Loss loss) {
    return new WithLoss(new Mlp(8, List.of(16), 4), loss);
  }

  static LossTerms mean(LossTerms right) {
    return new LossTerms(divided(right.sum(), right.count()), right.count());
  }

  static LossTerms meanThatCountsOnce(LossTerms right) {
    return new LossTerms(divided(right.sum(), right.count()), 1);
  }

  static LossTerms sumThatCountsOnce(LossTerms right) {
    return new LossTerms(right.sum(), 1);
  }

  /** Adds what every two samples of the batch have in common, as contrastive losses do. */
  static LossTerms contrastive(LossTerms right, Activations outputs) {
    var similarities = outputs.only().mm(outputs.only().t());
    return new LossTerms(
        right.sum().add(torch.logsumexp(similarities, new long[] {1}).sum()), right.count());
  }

  private static Tensor divided(Tensor sum, long count) {
    return sum.div(new Scalar((double) count));
  }

  private record WithLoss(Model model, Loss loss) implements Model, Objective {
    @Override
    public String name() {
      return model.name();
    }

    @Override
    public List<Segment> segments() {
      return model.segments();
    }

    @Override
    public Objective objective() {
      return this;
    }

    @Override
    public LossTerms loss(Activations outputs, Batch batch) {
      try (var scope = TensorScope.open()) {
        var terms = loss.of(CLASSES.loss(outputs, batch), outputs);
        return new LossTerms(scope.handOut(terms.sum()), terms.count());
      }
    }

    @Override
    public Score score(Activations outputs, Batch batch) {
      return Score.NONE;
    }
  }
}
