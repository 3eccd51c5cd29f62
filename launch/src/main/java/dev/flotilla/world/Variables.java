package dev.flotilla.world;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** An environment that is read with the problems found on the way. */
final class Variables {

  private final Map<String, String> environment;
  private final List<String> problems = new ArrayList<>();

  Variables(Map<String, String> environment) {
    this.environment = environment;
  }

  /** Returns the value of the first name that is set. */
  Optional<String> text(List<String> names) {
    return nameSet(names).map(name -> environment.getOrDefault(name, ""));
  }

  Optional<String> text(String name) {
    return text(List.of(name));
  }

  /** Returns a whole number not below the least one; notes a problem for anything else. */
  OptionalInt number(List<String> names, int least) {
    Optional<String> name = nameSet(names);
    if (name.isEmpty()) {
      return OptionalInt.empty();
    }
    String value = environment.getOrDefault(name.get(), "").strip();
    if (!value.matches("[0-9]{1,9}") || Integer.parseInt(value) < least) {
      wrong(name.get(), "must be a whole number of %d or more".formatted(least));
      return OptionalInt.empty();
    }
    return OptionalInt.of(Integer.parseInt(value));
  }

  /** Returns the name that is set, or the preferred one, to speak of a quantity. */
  String nameOf(List<String> names) {
    return nameSet(names).orElse(names.getFirst());
  }

  boolean isSet(List<String> names) {
    return nameSet(names).isPresent();
  }

  /** Notes that the value of a variable breaks a requirement. */
  void wrong(String name, String requirement) {
    problems.add(
        "%s %s, but was '%s'".formatted(name, requirement, environment.getOrDefault(name, "")));
  }

  void missing(String name, String why) {
    problems.add("%s is not set: %s".formatted(name, why));
  }

  boolean hasProblems() {
    return !problems.isEmpty();
  }

  /** Returns one exception that lists every problem. */
  WorldException exception() {
    var message = new StringBuilder("the environment does not tell this process its place:");
    for (int i = 0; i < problems.size(); i++) {
      message.append("\n  %d. %s".formatted(i + 1, problems.get(i)));
    }
    return new WorldException(message.toString());
  }

  private Optional<String> nameSet(List<String> names) {
    return names.stream().filter(environment::containsKey).findFirst();
  }
}
