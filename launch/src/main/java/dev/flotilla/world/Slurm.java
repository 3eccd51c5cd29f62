package dev.flotilla.world;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads Slurm's compact lists. */
final class Slurm {

  private static final Pattern FIRST_HOST =
      Pattern.compile("[A-Za-z0-9._-]*(?:\\[[0-9][0-9,-]*][A-Za-z0-9._-]*)*");
  private static final Pattern RANGES = Pattern.compile("\\[([0-9]+)[0-9,-]*]");
  private static final Pattern TASKS = Pattern.compile("([0-9]{1,6})(?:\\(x([0-9]{1,6})\\))?");
  private static final int FIRST_PORT = 15000;

  private Slurm() {}

  /** Returns the first host of a list such as {@code host[5-9,12]} or {@code a,b}. */
  static Optional<String> firstHost(String nodeList) {
    String list = nodeList.strip();
    Matcher first = FIRST_HOST.matcher(list);
    if (!first.lookingAt() || first.end() == 0 || !endsAt(list, first.end())) {
      return Optional.empty();
    }
    return Optional.of(RANGES.matcher(first.group()).replaceAll("$1"));
  }

  private static boolean endsAt(String list, int index) {
    return index == list.length() || list.charAt(index) == ',';
  }

  /** Returns the number of tasks of a host from a list such as {@code 4(x2),3}. */
  static OptionalInt tasksOfNode(String tasksPerNode, int node) {
    int before = 0;
    for (String part : tasksPerNode.strip().split(",", -1)) {
      Matcher matcher = TASKS.matcher(part);
      if (!matcher.matches()) {
        return OptionalInt.empty();
      }
      before += matcher.group(2) == null ? 1 : Integer.parseInt(matcher.group(2));
      if (node < before) {
        return OptionalInt.of(Integer.parseInt(matcher.group(1)));
      }
    }
    return OptionalInt.empty();
  }

  /** Returns the port all ranks of a job derive from its number, so that jobs rarely meet. */
  static OptionalInt portOf(String jobId) {
    String id = jobId.strip();
    if (!id.matches("[0-9]+")) {
      return OptionalInt.empty();
    }
    String lastFour = id.substring(Math.max(0, id.length() - 4));
    return OptionalInt.of(FIRST_PORT + Integer.parseInt(lastFour));
  }
}
