package dev.flotilla.zoo.rows;

import dev.flotilla.data.DataSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.data.SampleForm;
import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import dev.flotilla.zoo.data.DataProblem;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * Rows of numbers, each with a class, from a folder of files that Spark has written with {@code
 * FlotillaSpark.writeRows}.
 *
 * <p>The files are mapped into memory and not read ahead, so they may be larger than it. Their
 * digests are checked when they are opened.
 *
 * @param path the folder
 */
@Summary("Rows of numbers with classes, in files that Spark has written.")
public record RowFolder(@Setting(doc = "Folder with the files and their rows.manifest.") Path path)
    implements DataSource {

  @Override
  public void check() {
    var manifest = manifest();
    Stream.of(manifest.train(), manifest.test())
        .flatMap(List::stream)
        .forEach(RowShard::checkLength);
    if (manifest.trainRows() == 0) {
      throw DataProblem.of(path, "has no rows to train on", "");
    }
    if (manifest.trainRows() > Integer.MAX_VALUE) {
      throw DataProblem.of(
          path,
          "has %,d rows to train on, but at most %,d can be numbered"
              .formatted(manifest.trainRows(), Integer.MAX_VALUE),
          "");
    }
  }

  @Override
  public Optional<SampleForm> form() {
    var manifest = manifest();
    return Optional.of(new SampleForm.Numbers(manifest.columns(), manifest.classes()));
  }

  @Override
  public OptionalInt trainingSize() {
    return OptionalInt.of(Math.toIntExact(manifest().trainRows()));
  }

  @Override
  public Dataset train() {
    var manifest = manifest();
    return new RowDataset(manifest.train(), manifest.columns(), manifest.classes());
  }

  @Override
  public Dataset test() {
    var manifest = manifest();
    return new RowDataset(manifest.test(), manifest.columns(), manifest.classes());
  }

  private RowManifest manifest() {
    return RowManifest.read(path);
  }
}
