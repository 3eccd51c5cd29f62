package dev.flotilla.board.live;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The runs below a folder, looked at once a second while somebody watches, and by one thread: it
 * alone reads files. Watchers are given the newest state when they ask for it, so nothing queues up
 * for those who are slow.
 */
final class Runs implements AutoCloseable {

  private static final Duration LOOK = Duration.ofSeconds(1);

  /** So long may it take to read runs for the first time before the list shows the others. */
  private static final Duration FIRST_LOOK = Duration.ofMillis(300);

  /** New folders may wait a little longer than news of a run. */
  private static final int LOOKS_PER_SEARCH = 3;

  private final Path root;
  private final RunFolders folders;
  private final Messages messages = new Messages();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Condition wanted = lock.newCondition();

  // guarded by the lock
  private final Map<String, Integer> watched = new HashMap<>();
  private int watchers;
  private boolean isHurried;
  private boolean isClosed;
  private @Nullable Message list;
  private Map<String, Message> pages = Map.of();

  // of the looking thread alone
  private Map<String, WatchedRun> known = new LinkedHashMap<>();

  private final Thread looker;

  Runs(Path root) {
    this.root = root;
    this.folders = new RunFolders(root);
    this.looker = Thread.ofVirtual().name("board-runs").start(this::lookOnAndOn);
  }

  /** Says that somebody watches the list, and some runs closely. */
  void watch(Set<String> ids) {
    lock.lock();
    try {
      watchers++;
      isHurried = true;
      ids.forEach(id -> watched.merge(id, 1, Integer::sum));
      wanted.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Takes {@link #watch} back. */
  void unwatch(Set<String> ids) {
    lock.lock();
    try {
      watchers--;
      ids.forEach(id -> watched.computeIfPresent(id, (_, count) -> count > 1 ? count - 1 : null));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns what a watcher has not seen, or nothing after a while without news.
   *
   * @param seen versions by name, where the list's name is empty; brought up to date
   */
  List<Map.Entry<String, Message>> news(
      Set<String> ids, Map<String, String> seen, Duration patience) throws InterruptedException {
    long left = patience.toNanos();
    lock.lock();
    try {
      while (true) {
        List<Map.Entry<String, Message>> news = new ArrayList<>();
        addIfNew(news, "", list, seen);
        ids.forEach(id -> addIfNew(news, id, pages.get(id), seen));
        if (!news.isEmpty() || left <= 0 || isClosed) {
          return news;
        }
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  private static void addIfNew(
      List<Map.Entry<String, Message>> news,
      String name,
      @Nullable Message message,
      Map<String, String> seen) {
    if (message != null && !message.version().equals(seen.put(name, message.version()))) {
      news.add(Map.entry(name, message));
    }
  }

  private void lookOnAndOn() {
    try {
      for (int look = 0; awaitWatchers(); look++) {
        if (look % LOOKS_PER_SEARCH == 0 || known.isEmpty()) {
          search();
        }
        look();
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until somebody watches, and from look to look; a new watcher is not kept waiting. */
  private boolean awaitWatchers() throws InterruptedException {
    boolean isBehind = known.values().stream().anyMatch(WatchedRun::isUnseen);
    lock.lock();
    try {
      while (watchers == 0 && !isClosed) {
        wanted.await();
      }
      long left = LOOK.toNanos();
      while (!isHurried && !isBehind && !isClosed && left > 0) {
        left = wanted.awaitNanos(left);
      }
      isHurried = false;
      return !isClosed;
    } finally {
      lock.unlock();
    }
  }

  private void search() {
    Map<String, WatchedRun> found = new LinkedHashMap<>();
    folders
        .find()
        .forEach(
            (id, folder) -> {
              var old = known.get(id);
              found.put(id, old == null ? new WatchedRun(id, name(folder), folder) : old);
            });
    known = found;
  }

  private String name(Path folder) {
    var name = root.relativize(folder).toString();
    return name.isEmpty()
        ? String.valueOf(folder.toAbsolutePath().normalize().getFileName())
        : name;
  }

  private void look() {
    Set<String> close;
    lock.lock();
    try {
      close = Set.copyOf(watched.keySet());
    } finally {
      lock.unlock();
    }
    var states = new RunStates(FolderLocks.now());
    long end = System.nanoTime() + FIRST_LOOK.toNanos();
    for (var run : known.values()) {
      boolean isKept = close.contains(run.id());
      if (isKept || !run.isUnseen() || System.nanoTime() < end) {
        run.look(states, isKept);
      }
    }
    publish(messages.list(known.values()), messages.pages(known, close));
  }

  private void publish(Message newList, Map<String, Message> newPages) {
    lock.lock();
    try {
      list = newList;
      pages = newPages;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      isClosed = true;
      changed.signalAll();
      wanted.signalAll();
    } finally {
      lock.unlock();
    }
    looker.interrupt();
  }
}
