package dev.flotilla.collective;

import java.util.HashMap;
import java.util.Map;

/** Numbers the conversations of a keyValueStore by name. */
final class Sections {

  private final Map<String, Integer> opened = new HashMap<>();

  /** Returns the prefix of the next conversation with this name. */
  String next(String name) {
    return name + "/" + opened.merge(name, 1, Integer::sum) + "/";
  }
}
