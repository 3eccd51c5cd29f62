package dev.flotilla.train;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.DeviceMemory;
import dev.flotilla.memory.ProcessMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.LinkedHashMap;
import java.util.Map;

/** Puts together what summary.json holds. */
public final class RunSummary {

  private RunSummary() {}

  /**
   * Returns the summary of a fit; all ranks call it together, and every rank gets the same but for
   * its own traffic.
   *
   * @param wallSeconds time since the run began
   * @param configuration the resolved configuration
   */
  public static Map<String, Object> of(
      Trainer trainer, FitResult result, double wallSeconds, Map<String, Object> configuration) {
    var collective = trainer.collective();
    var exchanges = trainer.sent(Traffic.EXCHANGE);
    var scalars = trainer.sent(Traffic.SCALAR);
    Map<String, Object> summary = new LinkedHashMap<>();
    result
        .evaluation()
        .ifPresent(
            evaluation -> {
              if (evaluation.score().total() > 0) {
                summary.put("accuracy", evaluation.score().acc1());
                summary.put("accuracy_top5", evaluation.score().acc5());
              }
              summary.put("loss", evaluation.loss());
              if (!evaluation.metrics().isEmpty()) {
                summary.put("metrics", evaluation.shownMetrics());
              }
            });
    summary.put("train_loss", result.loss());
    summary.put("ranks", collective.size());
    summary.put("updates", trainer.updates());
    summary.put("micro_steps", trainer.microSteps());
    summary.put("samples", result.samples());
    summary.put("samples_per_second", result.samplesPerSecond());
    summary.put("collectives", exchanges.operations());
    summary.put("scalar_collectives", scalars.operations());
    summary.put("bytes_sent", exchanges.bytesSent());
    summary.put("peak_rss_bytes", largest(ProcessMemory.peakResidentBytes(), collective));
    summary.putAll(trainer.parts().settings().cpuThreads().facts(System.getenv()));
    var device = trainer.model().device();
    if (device.isCuda()) {
      summary.put("device", device.toString());
      summary.put("peak_device_bytes", largest(new DeviceMemory(device).peakBytes(), collective));
    }
    summary.put("train_seconds", result.seconds());
    summary.put("data_wait_seconds", result.dataWaitSeconds());
    summary.put("step_seconds", StepLedger.ofAll(result.stepSeconds(), collective));
    result.damagedSamples().ifPresent(count -> summary.put("damaged_samples", count));
    summary.put("wall_seconds", wallSeconds);
    summary.putAll(trainer.metrics());
    summary.put("weights_sha256", trainer.parts().replica().digest());
    trainer.parts().ema().digest().ifPresent(digest -> summary.put("ema_sha256", digest));
    summary.put("configuration", configuration);
    return summary;
  }

  private static long largest(long own, Collective collective) {
    try (var _ = TensorScope.open()) {
      var peak = Tensors.ofDoubles((double) own);
      collective.allReduce(peak, Reduction.MAX, Traffic.SCALAR).await();
      return (long) peak.item_double();
    }
  }
}
