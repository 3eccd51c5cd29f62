package dev.flotilla.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class NearestNameTests {

  private static final List<String> KNOWN =
      List.of("optimizer", "model", "lenet5", "lr", "eps", "weight_decay", "seed");

  @ParameterizedTest
  @CsvSource({
    "optimizr, optimizer",
    "optimizerr, optimizer",
    "optmizer, optimizer",
    "modle, model",
    "lenet, lenet5",
    "LeNet5, lenet5",
    "rl, lr",
    "weight-decay, weight_decay",
    "weightdecay, weight_decay",
    "sed, seed"
  })
  void findsTheNameThatWasMeant(String wanted, String meant) {
    assertThat(NearestName.of(wanted, KNOWN)).contains(meant);
  }

  @ParameterizedTest
  @CsvSource({"resnet50", "batch", "xyz"})
  void staysSilentWhenNothingIsNear(String wanted) {
    assertThat(NearestName.of(wanted, KNOWN)).isEmpty();
    assertThat(NearestName.hint(wanted, KNOWN)).isEmpty();
  }

  @Test
  void doesNotMeasureEndlessNames() {
    assertThat(NearestName.of("x".repeat(1_000_000), KNOWN)).isEmpty();
  }
}
