package dev.flotilla.train;

import dev.flotilla.data.Dataset;
import dev.flotilla.pass.Evaluation;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a fit achieved. Its trainer must still be open for {@link #accuracyOn}.
 *
 * @param trainer who trained
 * @param updates updates of this fit
 * @param samples samples trained on, over all ranks
 * @param loss mean loss of the last accumulation window
 * @param seconds time spent training, evaluations left out
 * @param dataWaitSeconds time of it that this rank has waited for data, since it was started
 * @param stepSeconds where the time of this rank went, since it was started: data, forward,
 *     backward, exchange, update, other; and hidden, the part of backward in which gradients were
 *     reduced
 * @param damagedSamples training samples found damaged on any rank, where others stand for them
 * @param evaluation the last evaluation, if the loop made any
 */
public record FitResult(
    Trainer trainer,
    long updates,
    long samples,
    double loss,
    double seconds,
    double dataWaitSeconds,
    Map<String, Double> stepSeconds,
    OptionalLong damagedSamples,
    Optional<Evaluation> evaluation) {

  /** Returns the top-1 accuracy on data; all ranks call it together. */
  public double accuracyOn(Dataset data) {
    return trainer.parts().evaluations().on(data).score().acc1();
  }

  /** Returns samples trained on per second, over all ranks. */
  public double samplesPerSecond() {
    return samples / seconds;
  }
}
