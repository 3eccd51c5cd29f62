package dev.flotilla.zoo.data;

import dev.flotilla.pickle.PickleException;
import dev.flotilla.pickle.PickleReader;
import dev.flotilla.pickle.Pickled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** CIFAR-10's format for Python: a pickled dictionary with an array of pixels and a list. */
record CifarPickleFile(Path file) implements CifarFile {

  private static final String FIX = "copy or download the file again";
  private static final long MOST_BYTES = 64L << 20;

  /** What NumPy's arrays are pickled by, in its versions of old and of today. */
  private static final Set<String> NAMES =
      Set.of(
          "numpy.core.multiarray._reconstruct",
          "numpy._core.multiarray._reconstruct",
          "numpy.ndarray",
          "numpy.dtype",
          "_codecs.encode");

  @Override
  public void check() {
    read();
  }

  @Override
  public CifarImages read() {
    try {
      if (Files.size(file) > MOST_BYTES) {
        throw DataProblem.of(file, "is larger than 64 MiB, which no file of CIFAR-10 is", FIX);
      }
      return images(PickleReader.read(Files.readAllBytes(file), NAMES));
    } catch (IOException e) {
      throw DataProblem.unreadable(file, e);
    } catch (PickleException e) {
      throw DataProblem.at(file, "byte " + e.position(), "the pickle " + e.getMessage(), FIX);
    }
  }

  private CifarImages images(Pickled root) {
    byte[] pixels = pixels(entry(root, "data"));
    byte[] labels = labels(entry(root, "labels"));
    if (labels.length == 0 || pixels.length != labels.length * PIXEL_BYTES) {
      throw DataProblem.of(
          file,
          "expected 3072 bytes of pixels for each of %d labels, but found %d"
              .formatted(labels.length, pixels.length),
          FIX);
    }
    return new CifarImages(pixels, labels);
  }

  private Pickled entry(Pickled root, String key) {
    if (root instanceof Pickled.Dictionary dictionary) {
      for (var entry : dictionary.entries()) {
        if (key.equals(text(entry.key()))) {
          return entry.value();
        }
      }
    }
    throw DataProblem.of(file, "holds no '%s'".formatted(key), FIX);
  }

  private static String text(Pickled value) {
    return switch (value) {
      case Pickled.Text text -> text.value();
      case Pickled.Bytes bytes -> new String(bytes.value(), StandardCharsets.ISO_8859_1);
      default -> "";
    };
  }

  /** Takes the bytes out of the state (version, shape, type, order, bytes) of an array. */
  private byte[] pixels(Pickled value) {
    boolean isArray =
        value instanceof Pickled.Call call
            && call.function().endsWith("multiarray._reconstruct")
            && call.state() instanceof Pickled.Tuple state
            && state.items().size() == 5
            && isBytes(state.items().get(2))
            && isRowMajor(state.items().get(3));
    if (!isArray) {
      throw DataProblem.of(file, "'data' must be an array of bytes in row order", FIX);
    }
    var state = (Pickled.Tuple) ((Pickled.Call) value).state();
    return bytes(state.items().get(4));
  }

  private static boolean isBytes(Pickled type) {
    return type instanceof Pickled.Call call
        && call.function().equals("numpy.dtype")
        && !call.arguments().isEmpty()
        && text(call.arguments().getFirst()).equals("u1");
  }

  private static boolean isRowMajor(Pickled isColumnMajor) {
    return isColumnMajor.equals(new Pickled.Truth(false))
        || isColumnMajor.equals(new Pickled.Whole(0));
  }

  private byte[] bytes(Pickled value) {
    return switch (value) {
      case Pickled.Bytes bytes -> bytes.value();
      case Pickled.Call call when call.function().equals("_codecs.encode") ->
          text(call.arguments().getFirst()).getBytes(StandardCharsets.ISO_8859_1);
      default -> throw DataProblem.of(file, "'data' must hold bytes", FIX);
    };
  }

  private static String shown(Pickled value) {
    return value instanceof Pickled.Whole whole ? "" + whole.value() : "something else";
  }

  private byte[] labels(Pickled value) {
    if (!(value instanceof Pickled.Sequence sequence)) {
      throw DataProblem.of(file, "'labels' must be a list", FIX);
    }
    List<Pickled> items = sequence.items();
    var labels = new byte[items.size()];
    for (int i = 0; i < labels.length; i++) {
      if (!(items.get(i) instanceof Pickled.Whole label)
          || label.value() < 0
          || label.value() >= CLASSES) {
        throw DataProblem.at(
            file,
            "label " + i,
            "expected a number from 0 to 9, but found " + shown(items.get(i)),
            FIX);
      }
      labels[i] = (byte) label.value();
    }
    return labels;
  }
}
