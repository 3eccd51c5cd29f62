package dev.flotilla.strategy.merge;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.LossTerms;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Score;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Shape;
import dev.flotilla.model.Weights;
import java.util.List;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/** A linear classifier of tokens whose loss counts the tokens that are not masked. */
record TokenModel() implements Model {

  @Override
  public String name() {
    return "tokens";
  }

  @Override
  public List<Segment> segments() {
    return List.of(new Head());
  }

  @Override
  public Objective objective() {
    return new TokenLoss();
  }

  private record Head() implements Segment {
    @Override
    public String name() {
      return "head";
    }

    @Override
    public List<ParameterSpec> parameters() {
      var shape = Shape.of(RaggedSequences.CLASSES, RaggedSequences.FEATURES);
      return List.of(ParameterSpec.weight("head.weight", shape, RaggedSequences.FEATURES));
    }

    @Override
    public Forward bind(Weights weights) {
      var weight = weights.parameter("head.weight");
      return (input, _) -> Activations.of(torch.linear(input.only(), weight));
    }
  }

  private record TokenLoss() implements Objective {
    @Override
    public LossTerms loss(Activations outputs, Batch batch) {
      try (var scope = TensorScope.open()) {
        var logits = outputs.only().flatten(0, 1);
        var targets = batch.targets().flatten();
        var sum =
            torch.cross_entropy_loss(
                logits, targets, new TensorOptional(), 2, RaggedSequences.MASKED, 0);
        long count = targets.ne(new Scalar(RaggedSequences.MASKED)).sum().item_long();
        return new LossTerms(scope.handOut(sum), count);
      }
    }

    @Override
    public Score score(Activations outputs, Batch batch) {
      return Score.NONE;
    }
  }
}
