package dev.flotilla.control;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The questions of ranks that a launcher has passed on to the first host's, which does not know
 * them; belongs to its hub's thread.
 */
final class OpenQuestions {

  /**
   * A question of a rank.
   *
   * @param peer the rank
   * @param number its number for it
   * @param attempt in whose name it asks
   */
  record Question(Peer peer, long number, int attempt) {}

  private final Map<Long, Question> open = new TreeMap<>();
  private long last;

  /** Returns the number under which a question is passed on. */
  long add(Question question) {
    last++;
    open.put(last, question);
    return last;
  }

  Optional<Question> answered(long number) {
    return Optional.ofNullable(open.remove(number));
  }

  Map<Long, Question> all() {
    return Map.copyOf(open);
  }

  void forgetBefore(int attempt) {
    open.values().removeIf(question -> question.attempt() < attempt);
  }
}
