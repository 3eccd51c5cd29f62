package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.flotilla.settings.Check;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import org.bytedeco.pytorch.global.torch;

/**
 * How a rank's operations share the cores of its host.
 *
 * @param threads threads of one operation
 * @param ranks ranks on the host
 * @param cores cores that the process may use, as its control group and affinity allow
 */
public record CpuThreads(int threads, int ranks, int cores) {

  /** What a thread of OpenMP does between two operations. */
  public enum Waiting {
    /** It looks for work for a millisecond or so before it sleeps. */
    ACTIVE,
    /** It sleeps at once. */
    PASSIVE
  }

  private static final int MOST = 1024;

  /** What a number of threads must be. */
  public static final String ALLOWED = "must be from 1 to " + MOST;

  private static final String POLICY = "OMP_WAIT_POLICY";

  /** Returns the cores that this process may use. */
  public static int coresHere() {
    return Runtime.getRuntime().availableProcessors();
  }

  /** Tells whether so many threads may be asked for. */
  public static boolean isAllowed(int threads) {
    return threads >= 1 && threads <= MOST;
  }

  /** Returns what is wrong with a number of threads, if anything. */
  public static Check check(int threads) {
    return Check.that(isAllowed(threads), "threads", ALLOWED, threads);
  }

  /** Tells whether fewer threads would leave each a core; a rank has one at least. */
  public boolean isTooMany() {
    return threads > 1 && (long) threads * ranks > cores;
  }

  /** Returns what the user should know if there are too many threads. */
  public String warning() {
    return "%d thread%s for each of %d rank%s on %d core%s: they wait for each other; threads: %d is as quick"
        .formatted(
            threads,
            plural(threads),
            ranks,
            plural(ranks),
            cores,
            plural(cores),
            Math.max(1, cores / ranks));
  }

  private static String plural(int count) {
    return count == 1 ? "" : "s";
  }

  /** Returns how threads wait: one that looks for work must not take a core that others need. */
  public Waiting waiting(Map<String, String> environment) {
    var stated = environment.getOrDefault(POLICY, "");
    if (!stated.isBlank()) {
      return stated.equalsIgnoreCase("passive") ? Waiting.PASSIVE : Waiting.ACTIVE;
    }
    return ranks > 1 || isTooMany() ? Waiting.PASSIVE : Waiting.ACTIVE;
  }

  /** Prepares OpenMP's library; has an effect before libtorch is loaded alone. */
  public void prepare() {
    // Its own default is to look for work for a while, and then to sleep; "active" would not sleep.
    if (waiting(System.getenv()) == Waiting.PASSIVE) {
      Environment.setIfAbsent(POLICY, "passive");
    }
  }

  /** Lets operations of this thread use these threads; libtorch must have been loaded. */
  public void apply() {
    torch.set_num_threads(threads);
    var _ = torch.get_num_threads(); // from now on, other threads' settings do not reach this one
  }

  /** Returns one line for people. */
  public String describe(Map<String, String> environment) {
    return "%d per rank, on %d core%s, %s waiting; products by %s"
        .formatted(
            threads,
            cores,
            plural(cores),
            waiting(environment) == Waiting.PASSIVE ? "passive" : "active",
            Blas.chosen(environment).describe());
  }

  /** Returns what a summary says of threads. */
  public Map<String, Object> facts(Map<String, String> environment) {
    return Map.of(
        "threads",
        threads,
        "waiting",
        waiting(environment).name().toLowerCase(Locale.ROOT),
        "blas",
        Blas.chosen(environment).name().toLowerCase(Locale.ROOT));
  }

  /** Returns a factory of threads whose operations do not start threads of their own. */
  public static ThreadFactory helpers(ThreadFactory factory) {
    return task ->
        factory.newThread(
            () -> {
              keepToOne();
              task.run();
            });
  }

  /** Lets operations of this thread run on it alone: a team of threads for each would not pay. */
  public static void keepToOne() {
    var _ = torch.get_num_threads(); // libtorch sets its own number when a thread first asks
    setThreads()
        .ifPresent(
            function -> {
              try {
                function.invokeExact(1);
              } catch (Throwable failure) {
                throw new IllegalStateException("cannot set the threads of OpenMP", failure);
              }
            });
  }

  private static Optional<java.lang.invoke.MethodHandle> setThreads() {
    return SymbolLookup.loaderLookup()
        .find("omp_set_num_threads")
        .map(
            function ->
                Linker.nativeLinker()
                    .downcallHandle(function, FunctionDescriptor.ofVoid(JAVA_INT)));
  }
}
