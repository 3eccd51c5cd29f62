import dev.flotilla.config.Catalogue;
import dev.flotilla.config.CatalogueProvider;
import dev.flotilla.config.MetricsEndpoint;
import dev.flotilla.settings.Remedy;

/** Trains: steps, techniques, optimizers, collectives, checkpoints and recipes. */
module dev.flotilla.core {
  requires static transitive org.jspecify;
  requires transitive dev.flotilla.launch;
  requires transitive org.bytedeco.javacpp;
  requires transitive org.bytedeco.pytorch;
  requires dev.flotilla.board;
  requires jdk.jfr;
  requires org.snakeyaml.engine;
  requires org.tukaani.xz;
  requires tools.jackson.databind;

  exports dev.flotilla.arena;
  exports dev.flotilla.booster;
  exports dev.flotilla.checkpoint;
  exports dev.flotilla.collective;
  exports dev.flotilla.config;
  exports dev.flotilla.data;
  exports dev.flotilla.exchange;
  exports dev.flotilla.memory;
  exports dev.flotilla.metric;
  exports dev.flotilla.model;
  exports dev.flotilla.onnx;
  exports dev.flotilla.optim;
  exports dev.flotilla.pass;
  exports dev.flotilla.pickle;
  exports dev.flotilla.predict;
  exports dev.flotilla.report;
  exports dev.flotilla.report.tensorboard;
  exports dev.flotilla.settings;
  exports dev.flotilla.state;
  exports dev.flotilla.step;
  exports dev.flotilla.strategy;
  exports dev.flotilla.strategy.clip;
  exports dev.flotilla.strategy.compress;
  exports dev.flotilla.strategy.ema;
  exports dev.flotilla.strategy.fusion;
  exports dev.flotilla.strategy.localsgd;
  exports dev.flotilla.strategy.merge;
  exports dev.flotilla.strategy.norm;
  exports dev.flotilla.strategy.powersgd;
  exports dev.flotilla.strategy.precision;
  exports dev.flotilla.strategy.recompute;
  exports dev.flotilla.strategy.shard;
  exports dev.flotilla.train;
  exports dev.flotilla.verify;
  exports dev.flotilla.wire;

  uses CatalogueProvider;
  uses MetricsEndpoint.Provider;
  uses Remedy.Names;

  provides Remedy.Names with
      Catalogue.Names;
}
