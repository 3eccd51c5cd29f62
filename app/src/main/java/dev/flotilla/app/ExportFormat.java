package dev.flotilla.app;

import dev.flotilla.predict.ExportedFile;
import dev.flotilla.predict.ModelExport;
import java.nio.file.Path;
import java.util.Locale;

/** What a model can be exported as. */
enum ExportFormat {
  ONNX {
    @Override
    ExportedFile write(ModelExport export, Path file) {
      return export.toOnnx(file);
    }
  },

  SAFETENSORS {
    @Override
    ExportedFile write(ModelExport export, Path file) {
      return export.toSafetensors(file);
    }
  };

  abstract ExportedFile write(ModelExport export, Path file);

  /** Returns its name as people write it, which is also how its files end. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
