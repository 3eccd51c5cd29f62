package dev.flotilla.collective;

import dev.flotilla.memory.TensorScope;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.chrono.Milliseconds;
import org.bytedeco.pytorch.FileStore;
import org.bytedeco.pytorch.IntOptional;
import org.bytedeco.pytorch.PrefixStore;
import org.bytedeco.pytorch.Store;
import org.bytedeco.pytorch.StringVector;
import org.bytedeco.pytorch.TCPStore;
import org.bytedeco.pytorch.TCPStoreOptions;
import org.jspecify.annotations.Nullable;

/**
 * The native store of a job, and the server behind it where this rank runs it.
 *
 * <p>A store that Java constructs is a bare object: handing it to native code leaks it, and handing
 * it over twice aborts the process. {@code clone()} returns a counted handle to an equivalent
 * store, so only clones leave this class.
 */
final class NativeStore implements MeetingPoint {

  /** Any number of ranks may come; whoever made the file deletes it. */
  private static final int UNKNOWN_WORKERS = -1;

  private final @Nullable TCPStore server;
  private final Store client;
  private final String place;

  private NativeStore(@Nullable TCPStore server, Store client, String place) {
    this.server = server;
    this.client = client;
    this.place = place;
  }

  static NativeStore inFile(Path file) {
    var folder = file.toAbsolutePath().getParent();
    if (folder == null || !Files.isWritable(folder)) {
      throw new RendezvousException(
          "the folder of the rendezvous file %s does not exist or is not writable".formatted(file));
    }
    try (var _ = TensorScope.open()) {
      var bare = new FileStore(file.toString(), UNKNOWN_WORKERS);
      return new NativeStore(null, TensorScope.keep(bare.clone()), file.toString());
    }
  }

  static NativeStore serve(MasterAddress master, boolean isOneHost, Duration timeout) {
    int descriptor = master.listen(isOneHost);
    try (var _ = TensorScope.open()) {
      var options =
          options(master, timeout).isServer(true).masterListenFd(new IntOptional(descriptor));
      var server = TensorScope.keep(connect(master, options));
      return new NativeStore(server, TensorScope.keep(server.clone()), master.toString());
    }
  }

  static NativeStore connect(MasterAddress master, int rank, Duration timeout) {
    var deadline = Deadline.in(timeout);
    master.awaitListener(rank, timeout);
    try (var _ = TensorScope.open()) {
      var bare = connect(master, options(master, deadline.left()).isServer(false));
      return new NativeStore(null, TensorScope.keep(bare.clone()), master.toString());
    }
  }

  private static TCPStoreOptions options(MasterAddress master, Duration timeout) {
    return new TCPStoreOptions()
        .port((short) master.port())
        .waitWorkers(false)
        .useLibUV(true)
        .timeout(new Milliseconds(timeout.toMillis()));
  }

  private static TCPStore connect(MasterAddress master, TCPStoreOptions options) {
    try {
      return new TCPStore(master.address().getHostAddress(), options);
    } catch (RuntimeException e) {
      throw new RendezvousException(
          "what listens at %s is not the store of this job (%s); choose another MASTER_PORT"
              .formatted(master, NativeText.firstLine(e)),
          e);
    }
  }

  @Override
  public boolean isServed() {
    return server != null;
  }

  @Override
  public String place() {
    return place;
  }

  @Override
  public NativeKeyValueStore prefixed(String prefix) {
    return new NativeKeyValueStore(client, place, prefix);
  }

  @Override
  public long claim(String key) {
    return prefixed("").claim(key);
  }

  /** Returns all entries but those with these keys. */
  Map<String, byte[]> entriesExcept(Set<String> known) {
    try (var _ = TensorScope.open()) {
      var entries = new TreeMap<String, byte[]>();
      var keys = client.listKeys();
      for (long i = 0; i < keys.size(); i++) {
        var key = keys.get(i).getString();
        // A store lists what it counts for itself too, under names by which nothing is found.
        if (!known.contains(key) && client.check(new StringVector(key))) {
          entries.put(key, client.get_to_str(new BytePointer(key)).getStringBytes());
        }
      }
      return entries;
    } catch (RuntimeException e) {
      throw new RendezvousException(
          "the store in %s cannot be read (%s)".formatted(place, NativeText.firstLine(e)), e);
    }
  }

  /** Sets an entry to any bytes. */
  void set(String key, byte[] value) {
    try (var _ = TensorScope.open()) {
      client.set(new BytePointer(key), new BytePointer(value).limit(value.length));
    } catch (RuntimeException e) {
      throw new RendezvousException(
          "the store in %s cannot be written (%s)".formatted(place, NativeText.firstLine(e)), e);
    }
  }

  @Override
  public Store part(String prefix) {
    return new PrefixStore(prefix, client).clone();
  }

  @Override
  public void close() {
    TensorScope.free(client);
    TensorScope.free(server);
  }
}
