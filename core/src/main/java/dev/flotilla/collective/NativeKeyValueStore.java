package dev.flotilla.collective;

import dev.flotilla.memory.TensorScope;
import java.util.Optional;
import java.util.function.Supplier;
import org.bytedeco.pytorch.Store;
import org.bytedeco.pytorch.StringVector;

/** Keys under one prefix of the store where the ranks met. */
final class NativeKeyValueStore implements KeyValueStore {

  private final Store store;
  private final String place;
  private final String prefix;
  private final Sections sections = new Sections();

  NativeKeyValueStore(Store store, String place, String prefix) {
    this.store = store;
    this.place = place;
    this.prefix = prefix;
  }

  @Override
  public void set(String key, String value) {
    if (value.isEmpty()) {
      throw new IllegalArgumentException("a value must not be empty, but " + key + " was");
    }
    guarded(
        () -> {
          store.set(prefix + key, value);
          return value;
        });
  }

  @Override
  public Optional<String> get(String key) {
    return guarded(
        () -> isThere(key) ? Optional.of(store.get_to_str(prefix + key)) : Optional.empty());
  }

  @Override
  public KeyValueStore section(String name) {
    return new NativeKeyValueStore(store, place, prefix + sections.next(name));
  }

  /** Returns how often this key was claimed, this time included. */
  long claim(String key) {
    return guarded(() -> store.add(prefix + key, 1));
  }

  private boolean isThere(String key) {
    return store.check(new StringVector(prefix + key));
  }

  private <T> T guarded(Supplier<T> access) {
    try (var _ = TensorScope.open()) {
      return access.get();
    } catch (RuntimeException e) {
      throw new RendezvousException(
          "the meeting point at %s is lost (%s); the process that serves it has probably ended"
              .formatted(place, NativeText.firstLine(e)),
          e);
    }
  }
}
