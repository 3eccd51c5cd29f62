package dev.flotilla.collective;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The keyValueStore of a rank that is alone. */
final class LocalKeyValueStore implements KeyValueStore {

  private final Map<String, String> notices = new ConcurrentHashMap<>();

  @Override
  public void post(String key, String text) {
    notices.put(key, text);
  }

  @Override
  public Optional<String> read(String key) {
    return Optional.ofNullable(notices.get(key));
  }

  @Override
  public KeyValueStore section(String name) {
    return new LocalKeyValueStore();
  }
}
