package dev.flotilla.predict;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.RankSlices;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.data.DealtBatches;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.Inference;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Predicts a whole data set over all ranks, each sample once, and tells rank 0 in order.
 *
 * <p>Batch k of the data set is that of rank k mod N, so that batches, and with them all bits, are
 * the same for any number of ranks. After each round of N batches their outputs are gathered.
 */
public final class RankPredictions {

  private final BoundModel model;
  private final Collective collective;
  private final DealtBatches batches;

  /** Describes the prediction of data in batches of so many samples. */
  public RankPredictions(BoundModel model, Collective collective, Dataset data, int batch) {
    this.model = model;
    this.collective = collective;
    this.batches = DealtBatches.of(data, batch, collective.rank(), collective.size());
  }

  /**
   * Runs all samples; all ranks call it together.
   *
   * @param classNames names of the classes, or none
   * @param rows hears of each sample, on rank 0 alone
   */
  public void run(List<String> classNames, Consumer<Prediction> rows) {
    try (var inference = new Inference(model);
        var loader = batches.loader().pinned(model.device().isCuda())) {
      for (long round = 0; round < batches.rounds(); round++) {
        try (var _ = TensorScope.open()) {
          var all = gather(outputs(inference, loader.load(round)), round);
          if (collective.rank() == 0) {
            OutputRows.read(all, model.objective(), classNames).forEach(rows);
          }
        }
      }
    }
  }

  /** Returns the outputs of a batch; none for a rank that has no sample in the last round. */
  private static Tensor outputs(Inference inference, Batch batch) {
    if (batch.isEmpty()) {
      return Tensors.empty(torch.ScalarType.Double, 0, 0);
    }
    try (var scope = TensorScope.open()) {
      return scope.handOut(OutputRows.of(inference.run(batch), batch.samples()));
    }
  }

  /** Returns the rows of all ranks; a rank without a sample does not know how long they are. */
  private Tensor gather(Tensor own, long round) {
    if (collective.size() == 1) {
      return own;
    }
    var width = Tensors.ofDoubles(own.size(1));
    collective.allReduce(width, Reduction.MAX, Traffic.SCALAR).await();
    long numbers = (long) width.item_double();
    var lengths =
        IntStream.range(0, collective.size())
            .mapToLong(rank -> batches.size(round, rank) * numbers)
            .toArray();
    var slices = RankSlices.of(lengths);
    var whole = Tensors.empty(torch.ScalarType.Double, slices.elements());
    collective.allGather(whole, own.flatten(), slices, Traffic.SCALAR).await();
    return whole.reshape(slices.elements() / numbers, numbers);
  }
}
