package dev.flotilla.collective;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The key-value store of a rank that is alone. */
final class LocalKeyValueStore implements KeyValueStore {

  private final Map<String, String> values = new ConcurrentHashMap<>();

  @Override
  public void set(String key, String value) {
    values.put(key, value);
  }

  @Override
  public Optional<String> get(String key) {
    return Optional.ofNullable(values.get(key));
  }

  @Override
  public KeyValueStore section(String name) {
    return new LocalKeyValueStore();
  }
}
