package dev.flotilla.state;

/** A state of tensors alone: numbers and texts stay what they are. */
public interface TensorState extends State {

  @Override
  default long number(String name, long value) {
    return value;
  }

  @Override
  default double real(String name, double value) {
    return value;
  }

  @Override
  default String text(String name, String value) {
    return value;
  }
}
