package dev.flotilla.checkpoint;

import java.util.Optional;
import org.bytedeco.pytorch.global.torch.ScalarType;

/** A type of tensor elements, by the name that safetensors gives it. */
public enum TensorType {
  F64(8),
  F32(4),
  F16(2),
  BF16(2),
  I64(8),
  I32(4),
  I16(2),
  I8(1),
  U8(1),
  BOOL(1);

  private final int bytes;

  TensorType(int bytes) {
    this.bytes = bytes;
  }

  /** Returns the size of an element. */
  public int bytes() {
    return bytes;
  }

  /** Returns the type of a libtorch tensor, or nothing when it cannot be stored. */
  static Optional<TensorType> of(ScalarType type) {
    return switch (type) {
      case Double -> Optional.of(F64);
      case Float -> Optional.of(F32);
      case Half -> Optional.of(F16);
      case BFloat16 -> Optional.of(BF16);
      case Long -> Optional.of(I64);
      case Int -> Optional.of(I32);
      case Short -> Optional.of(I16);
      case Char -> Optional.of(I8);
      case Byte -> Optional.of(U8);
      case Bool -> Optional.of(BOOL);
      default -> Optional.empty();
    };
  }

  /** Returns libtorch's name for this type. */
  public ScalarType scalarType() {
    return switch (this) {
      case F64 -> ScalarType.Double;
      case F32 -> ScalarType.Float;
      case F16 -> ScalarType.Half;
      case BF16 -> ScalarType.BFloat16;
      case I64 -> ScalarType.Long;
      case I32 -> ScalarType.Int;
      case I16 -> ScalarType.Short;
      case I8 -> ScalarType.Char;
      case U8 -> ScalarType.Byte;
      case BOOL -> ScalarType.Bool;
    };
  }

  /** Returns the type of a name in a file, or nothing when it is unknown. */
  static Optional<TensorType> named(String name) {
    for (var type : values()) {
      if (type.name().equals(name)) {
        return Optional.of(type);
      }
    }
    return Optional.empty();
  }
}
