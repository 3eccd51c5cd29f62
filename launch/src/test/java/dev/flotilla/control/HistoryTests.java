package dev.flotilla.control;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The checker finds what it is there for. */
class HistoryTests {

  private final History history = new History();

  @Test
  void takesWhatCanBe() {
    history.read("a", History.NOTHING, 0, 1);
    history.wrote("a", "1", 2, 10);
    history.read("a", "1", 3, 4);
    history.wrote("a", "2", 11, 14);
    history.read("a", "1", 11, 15);
    history.read("a", "2", 12, 16);
    history.triedToWrite("a", "3", 17);
    history.read("a", "3", 30, 31);
    history.stayed("rank 0", "x", 0, 5);
    history.stayed("rank 0", "y", 6, 9);
    assertThat(history.violations()).isEmpty();
  }

  @Test
  void findsAValueThatComesBack() {
    history.wrote("a", "1", 0, 1);
    history.wrote("a", "2", 2, 3);
    history.read("a", "2", 4, 5);
    history.read("a", "1", 6, 7);
    assertThat(history.violations()).isNotEmpty();
  }

  @Test
  void findsAReadThatMissesAValue() {
    history.wrote("a", "1", 0, 1);
    history.read("a", History.NOTHING, 2, 3);
    assertThat(history.violations()).isNotEmpty();
  }

  @Test
  void findsReadsThatDoNotAgreeOnTheOrder() {
    history.wrote("a", "1", 0, 20);
    history.wrote("a", "2", 0, 20);
    history.read("a", "1", 1, 2);
    history.read("a", "2", 3, 4);
    history.read("a", "1", 5, 6);
    assertThat(history.violations()).isNotEmpty();
  }

  @Test
  void findsAValueOfNobodyARankThatIsThereTwiceAndSeveralLists() {
    history.read("a", "x", 0, 1);
    history.stayed("rank 0", "x", 0, 5);
    history.stayed("rank 0", "y", 4, 9);
    history.sawMembers(1, "a");
    history.sawMembers(1, "b");
    assertThat(history.violations()).hasSize(3);
  }
}
