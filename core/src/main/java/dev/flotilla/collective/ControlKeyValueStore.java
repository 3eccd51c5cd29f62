package dev.flotilla.collective;

import dev.flotilla.control.SharedValues;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Keys under one prefix of the values that the launchers carry. */
final class ControlKeyValueStore implements KeyValueStore {

  private final SharedValues values;
  private final String prefix;
  private final Duration timeout;
  private final Sections sections = new Sections();
  private final Set<String> asked = ConcurrentHashMap.newKeySet();

  ControlKeyValueStore(SharedValues values, String prefix, Duration timeout) {
    this.values = values;
    this.prefix = prefix;
    this.timeout = timeout;
  }

  @Override
  public void set(String key, String value) {
    if (value.isEmpty()) {
      throw new IllegalArgumentException("a value must not be empty, but " + key + " was");
    }
    try {
      values.put(prefix + key, value.getBytes(StandardCharsets.UTF_8), timeout);
    } catch (IOException e) {
      throw lost(e);
    }
  }

  @Override
  public Optional<String> get(String key) {
    try {
      var value = values.get(prefix + key);
      // Who asks again waits for it, and it will come by itself; who asks once must not miss it.
      if (value.isEmpty() && asked.add(key)) {
        values.sync(timeout);
        value = values.get(prefix + key);
      }
      return value.map(it -> new String(it, StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw lost(e);
    }
  }

  private static RendezvousException lost(IOException cause) {
    return new RendezvousException(
        ("the launchers' control channel carries no values (%s); check that the launcher of host 0"
             + " runs, and that --master-addr, --master-port and the key are the same everywhere")
            .formatted(cause.getMessage()),
        cause);
  }

  @Override
  public KeyValueStore section(String name) {
    return new ControlKeyValueStore(values, prefix + sections.next(name), timeout);
  }
}
