package dev.flotilla.strategy.precision;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.TextForm;
import dev.flotilla.settings.TextValue;
import org.bytedeco.pytorch.global.torch;

/** A number type of 16 bits. */
@TextForm(words = {"bf16", "fp16"})
public enum HalfType implements TextValue {
  /** The range of float32 with 8 bits of precision. */
  BF16("bf16"),
  /** 11 bits of precision, but nothing above 65504 and little below 6e-8. */
  FP16("fp16");

  private final String text;

  HalfType(String text) {
    this.text = text;
  }

  /** Reads a type. */
  public static HalfType parse(String text) {
    return switch (text) {
      case "bf16" -> BF16;
      case "fp16" -> FP16;
      default -> throw new ConfigException("", "must be bf16 or fp16, but was '" + text + "'");
    };
  }

  torch.ScalarType scalarType() {
    return this == BF16 ? torch.ScalarType.BFloat16 : torch.ScalarType.Half;
  }

  @Override
  public String text() {
    return text;
  }
}
