package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class InterruptionTests {

  @Test
  void aLauncherThatNeverComesToLookIsEndedAsTheSignalWouldEndIt() throws InterruptedException {
    BlockingQueue<Integer> ended = new LinkedBlockingQueue<>();

    try (var interruption = Interruption.listen(Duration.ofMillis(50), ended::add)) {
      // Not by a real signal: other tests of this process would hear it, too.
      interruption.signalled("SIGTERM");

      assertThat(ended.poll(20, TimeUnit.SECONDS)).isEqualTo(143);
    }
  }
}
