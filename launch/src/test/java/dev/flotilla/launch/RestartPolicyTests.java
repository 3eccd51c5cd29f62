package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.launch.RestartPolicy.Decision;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RestartPolicyTests {

  @Test
  void waitsTwiceAsLongEachTimeUpToAMinute() {
    var policy = new RestartPolicy(9);
    List<Long> delays = new ArrayList<>();
    for (int failure = 0; failure < 9; failure++) {
      Decision decision = policy.after(1, failure);
      assertThat(decision.restarts()).isTrue();
      delays.add(decision.delay().toSeconds());
    }

    assertThat(delays).containsExactly(1L, 2L, 4L, 8L, 16L, 32L, 60L, 60L, 60L);
  }

  @Test
  void restartsExactlyAsOftenAsAllowed() {
    var policy = new RestartPolicy(2);

    assertThat(policy.after(137, 1).restarts()).isTrue();
    assertThat(policy.after(137, 2).restarts()).isTrue();
    Decision last = policy.after(137, 3);
    assertThat(last.restarts()).isFalse();
    assertThat(last.reason()).isEqualTo("not restarted: all 2 restarts are used up");
  }

  @Test
  void givesUpAfterThreeFailuresAtTheSameUpdate() {
    var policy = new RestartPolicy(100);

    assertThat(policy.after(1, 50).restarts()).isTrue();
    assertThat(policy.after(1, 50).restarts()).isTrue();
    assertThat(policy.after(1, 51).restarts()).as("got further").isTrue();
    assertThat(policy.after(1, 49).restarts()).isTrue();
    Decision last = policy.after(1, 51);
    assertThat(last.restarts()).isFalse();
    assertThat(last.reason())
        .isEqualTo("not restarted: the job failed three times without getting past update 51");
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4})
  void neverRestartsAMistakeOfTheUser(int exitCode) {
    assertThat(new RestartPolicy(5).after(exitCode, 0).restarts()).isFalse();
  }

  @Test
  void saysNothingWhereNoRestartsWereAskedFor() {
    assertThat(new RestartPolicy(0).after(1, 0)).isEqualTo(Decision.giveUp(""));
  }
}
