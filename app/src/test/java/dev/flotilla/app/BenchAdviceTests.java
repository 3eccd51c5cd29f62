package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BenchAdviceTests {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--models=lenet5,nosuch | --models: must be resnet18, lenet5 or bert-tiny, but was"
            + " 'nosuch'",
        "--rates=free,fast | a number with kbit, mbit or gbit such as 100mbit, but was",
        "--hosts=1 | needs --hosts of at least 2 and --cycles of at least 1, but was given 1 and 5",
      })
  void refusesWhatItCannotCompare(String argument, String message) {
    var ended = Ended.here("bench", "advice", argument).expect(2).explainsItself();

    assertThat(ended.err()).contains(message);
    assertThat(ended.out()).isEmpty();
  }
}
