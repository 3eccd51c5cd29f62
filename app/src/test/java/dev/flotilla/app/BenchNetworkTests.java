package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** On test hosts where there may be some, else over loopback: the table is the same. */
class BenchNetworkTests {

  @TempDir Path folder;

  @Test
  void comparesTechniquesAndLeavesNothing() {
    var flotilla = Flotilla.in(folder);

    var ended =
        flotilla
            .run(
                "bench",
                "network",
                "--model=lenet5",
                "--rates=free",
                "--rounds=2",
                "--technique=plain=",
                "--technique=chosen=exchange: auto",
                "--technique=halves=fuse_all_reduce: {wire: bf16}")
            .expect(0);

    assertThat(ended.out().lines().map(line -> line.replaceAll("  .*", "")))
        .contains("compute alone", "plain", "chosen", "halves");
    assertThat(flotilla.files()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--technique=nameless | must be NAME=STRATEGY",
        "--technique=x=dgc: {sparsity: [1.2]} | sparsity",
        "--technique=x=exchange: guess | exchange",
        "--model=alexnet | must be resnet18, lenet5 or bert-tiny",
        "--hosts=1 | --hosts of at least 2",
        "--rates=free,fast | a number with kbit, mbit or gbit such as 100mbit, but was",
      })
  void refusesWhatItCannotCompare(String argument, String message) {
    var ended = Ended.here("bench", "network", argument).expect(2).explainsItself();

    assertThat(ended.err()).contains(message);
  }
}
