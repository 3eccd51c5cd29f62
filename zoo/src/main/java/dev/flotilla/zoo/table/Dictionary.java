package dev.flotilla.zoo.table;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The categories of a column, numbered as they were met, with the place where each was first. */
final class Dictionary {

  /** More are names or texts, and no categories. */
  static final int MOST = 1 << 16;

  private final Map<String, Integer> numbers = new HashMap<>();
  private final List<String> names = new ArrayList<>();
  private final List<String> places = new ArrayList<>();

  /** Returns a dictionary that holds these to begin with. */
  static Dictionary of(List<String> known) {
    var dictionary = new Dictionary();
    known.forEach(name -> dictionary.add(name, ""));
    return dictionary;
  }

  /** Returns the number of a category, or -1. */
  int find(String name) {
    return numbers.getOrDefault(name, -1);
  }

  int add(String name, String place) {
    int number = names.size();
    numbers.put(name, number);
    names.add(name);
    places.add(place);
    return number;
  }

  List<String> names() {
    return names;
  }

  String placeOf(int number) {
    return places.get(number);
  }
}
