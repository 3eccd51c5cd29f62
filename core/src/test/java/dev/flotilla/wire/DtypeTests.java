package dev.flotilla.wire;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.compress.Dgc;
import dev.flotilla.strategy.compress.IndexFormat;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.precision.MixedPrecision;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DtypeTests {

  /** Each technique names the types that it takes, and no others. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "amp: {dtype: fp32} | amp.dtype: must be one of bf16, fp16, but was 'fp32'",
        "fuse_all_reduce: {wire: int8} | wire: must be one of fp32, bf16, fp16, but was 'int8'",
        "dgc: {values: bf16} | dgc.values: must be one of fp32, fp16, but was 'bf16'",
        "localsgd: {wire: f16} | must be one of fp32, bf16, fp16, int8, int4, but was 'f16'",
      })
  void aRecipeMayNameWhatATechniqueTakes(String strategy, String message) {
    var recipe =
        Recipe.parse("recipe", "{model: lenet5, data: digits, strategy: {%s}}".formatted(strategy));

    assertThatThrownBy(() -> RunConfig.read(recipe, Catalogue.installed()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(message);
  }

  @Test
  void aProgramMayNameWhatATechniqueTakes() {
    assertRefused(() -> new MixedPrecision(Dtype.FP32), "dtype: must be bf16 or fp16");
    assertRefused(() -> new FuseAllReduce().on(Dtype.INT4), "wire: must be fp32, bf16 or fp16");
    assertRefused(
        () -> new Dgc().sending(Dtype.BF16, IndexFormat.INT32), "values: must be fp32 or fp16");
  }

  private static void assertRefused(Supplier<Strategy> technique, String message) {
    assertThatThrownBy(technique::get)
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(message);
  }
}
