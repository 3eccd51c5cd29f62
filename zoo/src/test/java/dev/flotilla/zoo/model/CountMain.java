package dev.flotilla.zoo.model;

/** Prints a number of parameters, in a process that must not load libtorch. */
final class CountMain {

  private CountMain() {}

  public static void main(String[] args) {
    System.out.println(new BertLarge().parameterCount());
  }
}
