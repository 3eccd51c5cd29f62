package dev.flotilla.state;

import org.bytedeco.pytorch.Tensor;

/** A state whose names all begin with the same prefix. */
record StatePart(State whole, String prefix) implements State {

  private String full(String name) {
    return prefix + "/" + name;
  }

  @Override
  public void tensor(String name, Tensor live) {
    whole.tensor(full(name), live);
  }

  @Override
  public void slice(String name, long offset, Tensor live) {
    whole.slice(full(name), offset, live);
  }

  @Override
  public boolean has(String name) {
    return whole.has(full(name));
  }

  @Override
  public void mayLeave(String part) {
    whole.mayLeave(full(part));
  }

  @Override
  public long number(String name, long value) {
    return whole.number(full(name), value);
  }

  @Override
  public double real(String name, double value) {
    return whole.real(full(name), value);
  }

  @Override
  public String text(String name, String value) {
    return whole.text(full(name), value);
  }
}
