package dev.flotilla.world;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MissingNativeExceptionTests {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'org.bytedeco.pytorch.Tensor"
            + " org.bytedeco.pytorch.global.torch.foo(org.bytedeco.pytorch.Tensor)' | torch.foo",
        "'void org.bytedeco.pytorch.SequentialImpl.allocate()' | SequentialImpl.allocate",
        "'long org.bytedeco.pytorch.StringCordView$Iterator.bar()' | StringCordView$Iterator.bar"
      })
  void namesTheMethodAndTheLineThatAddsIt(String message, String method) {
    assertThatExceptionOfType(MissingNativeException.class)
        .isThrownBy(
            () ->
                MissingNativeException.explain(
                    () -> {
                      throw new UnsatisfiedLinkError(message);
                    }))
        .withMessage(
            "%s is not in the glue between Java and libtorch on arm64: add the line '%s' to"
                + " arm64/natives.txt, run arm64/build-glue, and build again",
            method, method)
        .satisfies(failure -> assertThat(failure.exitCode()).isEqualTo(ExitCodes.USAGE));
  }

  @Test
  void leavesOtherErrorsAsTheyAre() {
    var other = new UnsatisfiedLinkError("no zip in java.library.path");
    assertThatExceptionOfType(UnsatisfiedLinkError.class)
        .isThrownBy(
            () ->
                MissingNativeException.explain(
                    () -> {
                      throw other;
                    }))
        .isSameAs(other);
  }

  @Test
  void handsOnWhatTheCodeReturns() {
    assertThat(MissingNativeException.explain(() -> 5)).isEqualTo(5);
  }
}
