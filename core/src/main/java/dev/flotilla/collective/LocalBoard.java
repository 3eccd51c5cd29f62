package dev.flotilla.collective;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The noticeboard of a rank that is alone. */
final class LocalBoard implements Noticeboard {

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
  public Noticeboard section(String name) {
    return new LocalBoard();
  }
}
