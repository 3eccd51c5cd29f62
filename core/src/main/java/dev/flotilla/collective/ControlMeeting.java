package dev.flotilla.collective;

import dev.flotilla.control.SharedValues;
import java.nio.file.Path;
import java.time.Duration;
import org.bytedeco.pytorch.Store;

/**
 * Meets over the control channel of the launchers, where nobody takes part who lacks the job's key.
 *
 * <p>Native code wants a store of its own kind; it gets one in a private file of this rank, which a
 * {@linkplain StoreMirror mirror} feeds. So no store of a job that spans hosts listens anywhere.
 */
final class ControlMeeting implements MeetingPoint {

  private final SharedValues values;
  private final String name;
  private final Duration timeout;
  private final NativeStore store;
  private final StoreMirror mirror;

  private ControlMeeting(
      SharedValues values, String name, Duration timeout, NativeStore store, StoreMirror mirror) {
    this.values = values;
    this.name = name;
    this.timeout = timeout;
    this.store = store;
    this.mirror = mirror;
  }

  /**
   * Begins to meet.
   *
   * @param name what tells this meeting from others of the same job
   * @param file private file of this rank for native code
   * @param timeout how long a value may take to be kept
   */
  static ControlMeeting begin(SharedValues values, String name, Path file, Duration timeout) {
    NativeStore store = NativeStore.inFile(file);
    var mirror = new StoreMirror(store, values, name + "/native/", timeout);
    mirror.start();
    return new ControlMeeting(values, name, timeout, store, mirror);
  }

  @Override
  public boolean isServed() {
    return false;
  }

  @Override
  public String place() {
    return "the launchers' control channel";
  }

  @Override
  public KeyValueStore prefixed(String prefix) {
    return new ControlKeyValueStore(values, name + "/" + prefix, timeout);
  }

  /** The launcher lets one process in for each rank, so that none is there twice. */
  @Override
  public long claim(String key) {
    return 1;
  }

  @Override
  public Store part(String prefix) {
    return store.part(prefix);
  }

  @Override
  public void close() {
    mirror.close();
    store.close();
  }
}
