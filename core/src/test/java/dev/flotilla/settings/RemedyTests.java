package dev.flotilla.settings;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RemedyTests {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ACCUMULATION | gradient_merge",
        "FULL_WINDOWS | lower gradient_merge.k_steps or set gradient_merge.tail to flush",
        "FEWER_SAVED_TENSORS | amp or recompute",
        "LIMITED_NORM | clip: {norm: …}",
        "POOLED_STATISTICS | batch_norm: whole_window",
        "HALF_PRECISION_SUMS | fuse_all_reduce: {wire: bf16}",
        "SHARDED_STATE | sharding: {stage: 3}",
        "WHOLE_GRADIENTS | sharding of stage 1 or its no_sync",
        "NO_OVERLAP | fuse_all_reduce.overlap to false",
      })
  void namesTheSettingsThatOfferIt(Remedy remedy, String named) {
    assertThat(remedy.named()).isEqualTo(named);
  }
}
