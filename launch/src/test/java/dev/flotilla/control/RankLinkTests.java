package dev.flotilla.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RankLinkTests {

  @Test
  void whoPreparesSaysSoAndStillEndsByASignal() {
    var trace = Trace.inMemory();
    var gate = new StopGate(Duration.ofSeconds(1));
    var link = new RankLink(trace, gate, new LocalChannel(gate));

    link.preparing("loading weights");

    assertThat(new TraceReader(0, trace).place().progress())
        .isEqualTo("before the first micro-step (loading weights)");
    assertThat(link.stops()).isFalse();
  }
}
