package dev.flotilla.config;

import dev.flotilla.metric.Accuracy;
import dev.flotilla.metric.Auroc;
import dev.flotilla.metric.ConfusionMatrix;
import dev.flotilla.metric.F1Score;
import dev.flotilla.metric.MeanAbsoluteError;
import dev.flotilla.metric.MeanSquaredError;
import dev.flotilla.metric.Metric;
import dev.flotilla.metric.Perplexity;
import dev.flotilla.metric.PrecisionScore;
import dev.flotilla.metric.R2Score;
import dev.flotilla.metric.RecallScore;
import dev.flotilla.model.AbsoluteError;
import dev.flotilla.model.BinaryCrossEntropy;
import dev.flotilla.model.CrossEntropy;
import dev.flotilla.model.HuberLoss;
import dev.flotilla.model.Objective;
import dev.flotilla.model.SquaredError;
import dev.flotilla.model.WeightedSum;
import dev.flotilla.optim.Adagrad;
import dev.flotilla.optim.Adam;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Constant;
import dev.flotilla.optim.Cosine;
import dev.flotilla.optim.Lamb;
import dev.flotilla.optim.Lars;
import dev.flotilla.optim.Linear;
import dev.flotilla.optim.Lion;
import dev.flotilla.optim.Milestones;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.OneCycle;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Polynomial;
import dev.flotilla.optim.RmsProp;
import dev.flotilla.optim.Schedule;
import dev.flotilla.optim.Sgd;
import dev.flotilla.optim.StepDecay;
import dev.flotilla.optim.WarmRestarts;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.StrategyChoice;
import dev.flotilla.strategy.clip.Clip;
import dev.flotilla.strategy.compress.Dgc;
import dev.flotilla.strategy.compress.ExchangeChoice;
import dev.flotilla.strategy.ema.Ema;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.localsgd.AdaptiveLocalSgd;
import dev.flotilla.strategy.localsgd.LocalSgd;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.norm.PoolOver;
import dev.flotilla.strategy.powersgd.PowerSgd;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.train.Plateau;
import java.util.Map;

/** Names what the library itself brings: the one line that a new technique adds here. */
final class BuiltIn implements CatalogueProvider {

  @Override
  public Map<String, Class<? extends Optimizer>> optimizers() {
    return Map.of(
        "sgd", Sgd.class,
        "momentum", Momentum.class,
        "adam", Adam.class,
        "adamw", AdamW.class,
        "rmsprop", RmsProp.class,
        "adagrad", Adagrad.class,
        "lamb", Lamb.class,
        "lars", Lars.class,
        "lion", Lion.class);
  }

  @Override
  public Map<String, Class<? extends Objective>> objectives() {
    return Map.of(
        "cross_entropy", CrossEntropy.class,
        "bce_with_logits", BinaryCrossEntropy.class,
        "weighted_sum", WeightedSum.class,
        "mse", SquaredError.class,
        "l1", AbsoluteError.class,
        "huber", HuberLoss.class);
  }

  @Override
  public Map<String, Class<? extends Schedule>> schedules() {
    return Map.of(
        "constant", Constant.class,
        "step", StepDecay.class,
        "cosine", Cosine.class,
        "polynomial", Polynomial.class,
        "linear", Linear.class,
        "milestones", Milestones.class,
        "one_cycle", OneCycle.class,
        "warm_restarts", WarmRestarts.class,
        "plateau", Plateau.class);
  }

  /** Returns the techniques that a recipe names by a key of its own, outside {@code strategy}. */
  static Map<String, Class<? extends StrategyChoice>> choices() {
    return Map.of(
        "clip", Clip.class,
        "exchange", ExchangeChoice.class,
        "batch_norm", PoolOver.class,
        "ema", Ema.class);
  }

  @Override
  public Map<String, Class<? extends Metric>> metrics() {
    return Map.of(
        "accuracy", Accuracy.class,
        "precision", PrecisionScore.class,
        "recall", RecallScore.class,
        "f1", F1Score.class,
        "confusion_matrix", ConfusionMatrix.class,
        "auroc", Auroc.class,
        "mse", MeanSquaredError.class,
        "mae", MeanAbsoluteError.class,
        "r2", R2Score.class,
        "perplexity", Perplexity.class);
  }

  @Override
  public Map<String, Class<? extends Strategy>> techniques() {
    return Map.of(
        "dgc", Dgc.class,
        "fuse_all_reduce", FuseAllReduce.class,
        "gradient_merge", GradientMerge.class,
        "powersgd", PowerSgd.class,
        "recompute", Recompute.class,
        "sharding", Sharding.class,
        "amp", MixedPrecision.class,
        "localsgd", LocalSgd.class,
        "adaptive_localsgd", AdaptiveLocalSgd.class);
  }
}
