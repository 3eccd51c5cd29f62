package dev.flotilla.onnx;

/** A type of elements, by its number in ONNX. */
public enum OnnxType {
  FLOAT32(1),
  INT64(7),
  BOOL(9);

  private final int number;

  OnnxType(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }
}
