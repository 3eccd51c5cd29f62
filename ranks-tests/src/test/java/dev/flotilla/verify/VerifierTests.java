package dev.flotilla.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.model.CrossEntropy;
import dev.flotilla.model.Model;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Cosine;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Sgd;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.merge.Tail;
import dev.flotilla.strategy.merge.Weighting;
import dev.flotilla.strategy.merge.WindowLength;
import dev.flotilla.strategy.norm.PoolOver;
import dev.flotilla.strategy.norm.PooledBatchNorm;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.train.Trainer;
import dev.flotilla.verify.Cause.Kind;
import dev.flotilla.verify.FaultyModels.Net.Between;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.model.Mlp;
import dev.flotilla.zoo.model.Normalization;
import dev.flotilla.zoo.model.ResNet18;
import dev.flotilla.zoo.model.Stem;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every cause is planted once, and the report must name exactly it. */
class VerifierTests {

  /** 2 full windows of 64 and a tail of 36, which micro-batches of 16 cut into 16, 16 and 4. */
  private static final ColouredPoints POINTS = new ColouredPoints(164, 8, 4);

  private static final Model MLP = new Mlp(8, List.of(16), 4);
  private static final GradientMerge MERGE = new GradientMerge(4);

  private static Verification verify(Model model, GradientMerge merge) {
    return verify(model, new Momentum(0.1, 0.9), merge, 3);
  }

  private static Verification verify(
      Model model, Optimizer optimizer, GradientMerge merge, int windows) {
    var subject =
        new Verifier.Subject(
            model,
            () ->
                Trainer.on(World.solo()).optimizer(optimizer).schedule(new Cosine(0, 0)).threads(1),
            List.of(new ClipByNorm(0.5)),
            POINTS.batches(16).shuffled(5),
            100);
    return new Verifier(subject, 4, windows).verify(merge);
  }

  private static Verification verify(Between between) {
    try (var net = new FaultyModels.Net(between)) {
      return verify(net.model(), MERGE);
    }
  }

  private static List<Kind> kinds(Verification result) {
    return result.causes().stream().map(Cause::kind).toList();
  }

  private static GradientMerge merge(boolean avg, Tail tail, Weighting weighting) {
    return new GradientMerge(WindowLength.of(4), null, avg, tail, weighting);
  }

  @Test
  void aLossDividedByClassWeightsIsMergedExactly() {
    var weighted = new CrossEntropy(0.1, List.of(0.5, 1.0, 2.0, 3.0), null, true);
    assertThat(verify(MLP.trainedFor(weighted), MERGE).isEqual()).isTrue();
  }

  private static void assertCause(Verification result, Kind kind, String part) {
    assertThat(result.isEqual()).isFalse();
    assertThat(kinds(result)).containsExactly(kind);
    assertThat(result.causes().getFirst().message()).contains(part);
  }

  @Test
  void mergedBatchesOfASoundModelAreEqualToRounding() {
    var result = verify(MLP, MERGE);
    assertThat(result.isEqual()).isTrue();
    assertThat(result.causes()).isEmpty();
    assertThat(result.notes()).isEmpty();
    assertThat(result.updates()).isEqualTo(3);
    assertThat(result.windows())
        .containsExactly(
            "4 micro-batches of 16 samples, epoch 0",
            "micro-batches of 16, 16, 4 samples, epoch 0, its end",
            "4 micro-batches of 16 samples, epoch 1");
    assertThat(result.parameters())
        .extracting(Verification.Difference::name)
        .containsExactly("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias");
    assertThat(result.parameters())
        .allSatisfy(
            parameter -> {
              assertThat(parameter.gradient64()).isLessThan(1e-13);
              assertThat(parameter.gradient32()).isBetween(1e-9, 1e-5);
              assertThat(parameter.weights64()).isLessThan(1e-13);
              assertThat(parameter.weights32()).isLessThan(1e-5);
            });
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "2, 2", "6, 6"})
  void asManyWindowsAreComparedAsAreAskedFor(int windows, int updates) {
    var result = verify(MLP, new AdamW(1e-3, List.of(0.9, 0.999), 1e-8, 0.1), MERGE, windows);
    assertThat(result.isEqual()).isTrue();
    assertThat(result.updates()).isEqualTo(updates);
  }

  @Test
  void aUsersModuleStartsEveryRunFromItsOwnValues() {
    var result = verify(Between.NOTHING);
    assertThat(result.isEqual()).isTrue();
  }

  @Test
  void batchNormOverTheWholeWindowIsTheLargeBatch() {
    var images = new SyntheticImages(3, 16, 10, 40, 8).train();
    var subject =
        new Verifier.Subject(
            new ResNet18(10, Stem.CIFAR, Normalization.BATCH, 4, false, 4),
            () -> Trainer.on(World.solo()).optimizer(new Sgd(0.1)).threads(1),
            List.of(new PooledBatchNorm(PoolOver.WHOLE_WINDOW)),
            images.batches(4).shuffled(5),
            100);
    assertThat(new Verifier(subject, 4, 2).verify(MERGE).isEqual()).isTrue();
  }

  @Test
  void namesBatchNorm() {
    assertCause(verify(Between.BATCH_NORM), Kind.BATCH_NORM, "normalises over the batch");
  }

  @Test
  void namesAModelThatMixesSamplesInEvaluationToo() {
    assertCause(
        verify(Between.BATCH_NORM_WITHOUT_STATISTICS), Kind.MIXED_SAMPLES, "in evaluation too");
  }

  @Test
  void switchesDropoutOffAndSaysSo() {
    var result = verify(Between.DROPOUT);
    assertThat(result.isEqual()).isTrue();
    assertThat(result.notes()).hasSize(1);
    assertThat(result.notes().getFirst()).contains("dropout is switched off");
  }

  @Test
  void namesDropoutThatCannotBeSwitchedOff() {
    assertCause(verify(Between.DROPOUT_ALWAYS), Kind.RANDOMNESS, "different random numbers");
  }

  @Test
  void findsBatchNormBehindDropout() {
    var result = verify(Between.BATCH_NORM_AND_DROPOUT);
    assertCause(result, Kind.BATCH_NORM, "The table does not show it");
    assertThat(result.notes().getFirst()).contains("dropout is switched off");
  }

  @Test
  void namesALossThatCouplesSamples() {
    var result = verify(FaultyModels.withLoss(FaultyModels::contrastive), MERGE);
    assertCause(result, Kind.COUPLING_LOSS, "not the sum of the losses of its halves");
  }

  @Test
  void namesALossThatIsAMeanAlready() {
    var counted = verify(FaultyModels.withLoss((right, _) -> FaultyModels.mean(right)), MERGE);
    assertCause(counted, Kind.UNEQUAL_COUNTS, "it is a mean");
    var once =
        verify(FaultyModels.withLoss((right, _) -> FaultyModels.meanThatCountsOnce(right)), MERGE);
    assertCause(once, Kind.UNEQUAL_COUNTS, "it is a mean");
  }

  @Test
  void namesALossWhoseCountIsNotThatOfItsTerms() {
    var loss = FaultyModels.withLoss((right, _) -> FaultyModels.sumThatCountsOnce(right));
    assertCause(verify(loss, MERGE), Kind.UNEQUAL_COUNTS, "but its count does not");
  }

  @Test
  void namesTheMeanOfMeansOverUnequalMicroBatches() {
    var result = verify(MLP, merge(true, Tail.FLUSH, Weighting.MICRO_BATCHES));
    assertCause(
        result, Kind.UNEQUAL_COUNTS, "hold 16, 16, 4 loss terms but have weights of 0.3333");
  }

  @Test
  void namesATailThatIsCarried() {
    var result = verify(MLP, merge(true, Tail.CARRY, Weighting.TERMS));
    assertCause(result, Kind.TAIL, "holds 3 from the end of epoch 0 and 1 of the next epoch.");
  }

  @Test
  void namesATailThatIsDropped() {
    var result = verify(MLP, merge(true, Tail.DROP, Weighting.TERMS));
    assertCause(result, Kind.TAIL, "3 micro-batches are thrown away");
  }

  @Test
  void namesSumsWithTheirFactor() {
    var result = verify(MLP, merge(false, Tail.FLUSH, Weighting.TERMS));
    assertCause(result, Kind.SUM, "update 0 (counted from 0) is 4 times the mean");
  }

  @Test
  void namesSeveralCausesTogether() {
    try (var net = new FaultyModels.Net(Between.BATCH_NORM)) {
      var result = verify(net.model(), merge(false, Tail.DROP, Weighting.TERMS));
      assertThat(kinds(result)).containsExactly(Kind.BATCH_NORM, Kind.TAIL, Kind.SUM);
    }
  }

  @Test
  void refusesWindowsOfOneMicroBatch() {
    var subject =
        new Verifier.Subject(
            MLP, () -> Trainer.on(World.solo()), List.of(), POINTS.batches(200), 100);
    assertThatThrownBy(() -> new Verifier(subject, 4, 3))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("nothing to compare");
  }
}
