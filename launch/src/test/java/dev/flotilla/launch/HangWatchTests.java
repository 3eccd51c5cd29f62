package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.control.RankPlace;
import java.util.List;
import org.junit.jupiter.api.Test;

class HangWatchTests {

  private static final RankPlace WAITING =
      new RankPlace(1, RankPlace.NONE, 0, "", 3, "broadcast", 4096, true);

  private static RankPlace outside(String activity) {
    return new RankPlace(0, RankPlace.NONE, 0, activity, 2, "broadcast", 4096, false);
  }

  @Test
  void aRankThatSaysWhatItDoesIsBusyAndNotStuck() {
    assertThat(HangWatch.stallerAmong(List.of(outside(""), WAITING))).contains(0);
    assertThat(HangWatch.stallerAmong(List.of(outside("loading weights"), WAITING))).isEmpty();
  }
}
