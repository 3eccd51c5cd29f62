package dev.flotilla.checkpoint;

import dev.flotilla.pickle.PickleException;
import dev.flotilla.pickle.PickleReader;
import dev.flotilla.pickle.Pickled;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

/**
 * A file of {@code torch.save} (PyTorch 1.6 or later): a zip of a pickle and of the bytes of
 * tensors. Nothing in it is executed.
 */
final class PthArchive implements AutoCloseable {

  private static final long MOST_PICKLE_BYTES = 64L << 20;

  /** Tied parameters lie in a file once; beyond some of them, views only blow a small file up. */
  private static final long MOST_TIMES_THE_FILE = 4;

  private static final long ALWAYS_ALLOWED = 16L << 20;

  /** All that the pickle of a state dict needs to mention. */
  private static final Set<String> NAMES =
      Set.of(
          "collections.OrderedDict",
          PthTensor.REBUILD,
          PthTensor.PARAMETER,
          "torch.DoubleStorage",
          "torch.FloatStorage",
          "torch.HalfStorage",
          "torch.BFloat16Storage",
          "torch.LongStorage",
          "torch.IntStorage",
          "torch.ShortStorage",
          "torch.CharStorage",
          "torch.ByteStorage",
          "torch.BoolStorage");

  private final Path file;
  private final ZipFile zip;
  private final ZipEntry pickle;
  private final String prefix;
  private final long fileBytes;
  private long tensorBytes;

  private PthArchive(Path file, long fileBytes, ZipFile zip, ZipEntry pickle) {
    this.file = file;
    this.fileBytes = fileBytes;
    this.zip = zip;
    this.pickle = pickle;
    this.prefix = pickle.getName().substring(0, pickle.getName().length() - "data.pkl".length());
  }

  static PthArchive open(Path file) {
    try {
      var zip = new ZipFile(file.toFile());
      var pickle = zip.stream().filter(entry -> isPickle(entry.getName())).findFirst().orElse(null);
      if (pickle == null) {
        zip.close();
        throw problem(file, "holds no data.pkl: it was not written by torch.save");
      }
      return new PthArchive(file, Files.size(file), zip, pickle);
    } catch (ZipException e) {
      throw problem(
          file,
          "is not a zip file: it is damaged, or was saved by PyTorch before 1.6 (save it again)");
    } catch (IOException e) {
      throw CheckpointException.of("cannot read", file, e);
    }
  }

  private static boolean isPickle(String name) {
    return name.equals("data.pkl") || name.endsWith("/data.pkl");
  }

  /** Reads all tensors into memory that belongs to the arena. */
  List<LiveTensor> tensors(Arena arena) {
    requireLittleEndian();
    List<LiveTensor> tensors = new ArrayList<>();
    for (var entry : stateDict(pickled())) {
      String name = PthTensor.text(entry.key());
      if (name.isEmpty()) {
        throw problem(file, "has an entry whose name is not text");
      }
      var tensor = PthTensor.of(entry.value());
      if (tensor == null) {
        throw problem(file, "entry %s is not a tensor".formatted(TensorName.quote(name)));
      }
      tensors.add(tensor.read(name, this, arena));
    }
    return tensors;
  }

  private void requireLittleEndian() {
    var order = zip.getEntry(prefix + "byteorder");
    try {
      if (order != null
          && !new String(bytes(order, 16), java.nio.charset.StandardCharsets.US_ASCII)
              .equals("little")) {
        throw problem(file, "was written on a big-endian machine");
      }
    } catch (IOException e) {
      throw CheckpointException.of("cannot read", file, e);
    }
  }

  private Pickled pickled() {
    try {
      return PickleReader.read(bytes(pickle, MOST_PICKLE_BYTES), NAMES);
    } catch (PickleException e) {
      throw problem(
          file,
          "%s, byte %d: the pickle %s".formatted(pickle.getName(), e.position(), e.getMessage()));
    } catch (IOException e) {
      throw CheckpointException.of("cannot read", file, e);
    }
  }

  /** Finds the entries of the state dict: the whole, or what training scripts wrap it in. */
  private List<Pickled.Entry> stateDict(Pickled root) {
    var entries = entries(root);
    for (String wrapper : List.of("state_dict", "model")) {
      for (var entry : entries) {
        if (PthTensor.text(entry.key()).equals(wrapper) && !entries(entry.value()).isEmpty()) {
          return entries(entry.value());
        }
      }
    }
    if (entries.isEmpty()) {
      throw problem(file, "holds no state dict");
    }
    return entries;
  }

  private static List<Pickled.Entry> entries(Pickled value) {
    return switch (value) {
      case Pickled.Dictionary dictionary -> dictionary.entries();
      case Pickled.Call call when call.function().equals("collections.OrderedDict") ->
          call.entries().entries();
      default -> List.of();
    };
  }

  /** Returns the entry that holds the bytes of a storage, which must be stored as they are. */
  ZipEntry storage(String key) {
    var entry = zip.getEntry(prefix + "data/" + key);
    if (entry == null || entry.getMethod() != ZipEntry.STORED) {
      throw problem(file, "%sdata/%s is missing or packed".formatted(prefix, key));
    }
    return entry;
  }

  /** Returns the bytes that a storage can have, whatever the archive says. */
  long bytesOf(ZipEntry entry) {
    return Math.min(entry.getSize(), fileBytes);
  }

  /** Allows a tensor to take memory, before it does. */
  void allow(String tensor, long bytes) {
    long most = MOST_TIMES_THE_FILE * fileBytes + ALWAYS_ALLOWED;
    tensorBytes = Math.addExact(tensorBytes, bytes);
    if (tensorBytes > most) {
      throw problem(
          "up to tensor %s its tensors take %d bytes, but a file of %d may hold at most %d: views"
                  .formatted(TensorName.quote(tensor), tensorBytes, fileBytes, most)
              + " that repeat their storage must be cloned before they are saved");
    }
  }

  java.io.InputStream open(ZipEntry entry) throws IOException {
    return zip.getInputStream(entry);
  }

  CheckpointException problem(String what) {
    return problem(file, what);
  }

  private byte[] bytes(ZipEntry entry, long most) throws IOException {
    try (var in = zip.getInputStream(entry)) {
      byte[] bytes = in.readNBytes((int) Math.min(most + 1, Integer.MAX_VALUE - 8));
      if (bytes.length > most) {
        throw problem(file, "%s is larger than %d bytes".formatted(entry.getName(), most));
      }
      return bytes;
    }
  }

  private static CheckpointException problem(Path file, String what) {
    return new CheckpointException(file + ": " + what);
  }

  @Override
  public void close() {
    try {
      zip.close();
    } catch (IOException e) {
      throw CheckpointException.of("cannot close", file, e);
    }
  }
}
