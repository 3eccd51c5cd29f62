package dev.flotilla.spark;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.util.LongAccumulator;
import org.jspecify.annotations.Nullable;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/** What one barrier task does: it meets the others, starts its rank, and watches over it. */
final class RankTask extends AbstractFunction1<Iterator<Object>, Iterator<Object>>
    implements Serializable {

  private static final long serialVersionUID = 1;
  private static final long POLL_MILLIS = 200;
  private static final String FINE = "+";

  private final SparkJob job;
  private final int attempt;
  private final boolean sendsKey;
  private final LongAccumulator heartbeats;

  /**
   * Creates the task.
   *
   * @param sendsKey whether the job's key goes through the barrier
   * @param heartbeats counts the seconds in which ranks were alive
   */
  RankTask(SparkJob job, int attempt, boolean sendsKey, LongAccumulator heartbeats) {
    this.job = job;
    this.attempt = attempt;
    this.sendsKey = sendsKey;
    this.heartbeats = heartbeats;
  }

  @Override
  public Iterator<Object> apply(Iterator<Object> nothing) {
    var context = BarrierTaskContext.get();
    @Nullable Path folder = null;
    try {
      var meeting = meet(context);
      folder = privateFolder();
      run(context, meeting, folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("the task was cancelled", e);
    } finally {
      delete(folder);
    }
    return CollectionConverters.asScala(List.<Object>of().iterator());
  }

  /**
   * What all tasks know once they have met.
   *
   * @param home Flotilla on this host
   * @param port where the launchers meet, on the first task's host
   * @param key the job's key; empty if it does not come this way
   */
  private record Meeting(FlotillaHome home, String port, String key) {}

  /**
   * Nothing starts anywhere unless every executor has what it needs. All is said in one round,
   * because Spark takes a second for each.
   */
  private Meeting meet(BarrierTaskContext context) throws IOException {
    int rank = context.partitionId();
    @Nullable FlotillaHome home = null;
    var word = FINE + (rank == 0 ? freePort() + " " + newKey() : "");
    try {
      var conf = SparkEnv.get().conf();
      home =
          FlotillaHome.find(
              conf.get(Requirements.HOME), conf.get(Requirements.JDK, ""), System.getenv());
    } catch (SparkJobException refused) {
      word = hostOf(context, rank) + ": " + refused.getMessage();
    }
    var words = context.allGather(word);
    var problems =
        Stream.of(words)
            .filter(each -> !each.startsWith(FINE))
            .distinct()
            .collect(Collectors.joining("\n"));
    if (home == null || !problems.isEmpty()) {
      throw new SparkJobException(ExitCode.USAGE, SparkJobException.REFUSED + problems);
    }
    var first = words[0].substring(FINE.length()).split(" ", -1);
    return new Meeting(home, first[0], first[1]);
  }

  private void run(BarrierTaskContext context, Meeting meeting, Path folder)
      throws IOException, InterruptedException {
    int rank = context.partitionId();
    var home = meeting.home();
    var recipe = write(folder.resolve("recipe.yaml"), job.recipe());
    var arguments = new ArrayList<>(List.of("run", "--nproc", "1"));
    arguments.addAll(List.of("--nnodes", String.valueOf(job.ranks())));
    arguments.addAll(List.of("--node-rank", String.valueOf(rank)));
    arguments.addAll(List.of("--master-addr", hostOf(context, 0), "--master-port", meeting.port()));
    if (!meeting.key().isEmpty()) {
      arguments.addAll(
          List.of("--job-key-file", write(folder.resolve("job.key"), meeting.key()).toString()));
    } else if (!job.keyFile().isEmpty()) {
      arguments.addAll(List.of("--job-key-file", job.keyFile()));
    }
    arguments.addAll(List.of("--log-dir", job.out() + "/log/rank-" + rank, recipe.toString()));
    arguments.addAll(job.arguments());
    arguments.addAll(List.of("--out", job.out()));
    if (attempt > 0) {
      arguments.addAll(List.of("--resume", "auto"));
    }
    var variables = new HashMap<String, String>();
    variables.put("OMP_NUM_THREADS", SparkEnv.get().conf().get("spark.task.cpus", "1"));
    variables.put("FLOTILLA_PARENT_PID", String.valueOf(ProcessHandle.current().pid()));
    home.startUpCache().ifPresent(cache -> variables.put("FLOTILLA_AOT_CACHE", cache.toString()));
    try (var child = ChildProcess.start(home.launcher(arguments), variables, folder, rank)) {
      watch(context, child);
    }
  }

  private void watch(BarrierTaskContext context, ChildProcess child) throws InterruptedException {
    for (long polls = 0; !child.hasEnded(POLL_MILLIS); polls++) {
      if (context.isInterrupted()) {
        throw new InterruptedException("another rank has failed, or the job was cancelled");
      }
      if (polls % (1000 / POLL_MILLIS) == 0) {
        heartbeats.add(1);
      }
    }
    int code = child.exitCode();
    if (code != ExitCode.OK) {
      throw new RankFailure(context.partitionId(), code, child.lastLines());
    }
  }

  private String newKey() {
    var bytes = new byte[32];
    new SecureRandom().nextBytes(bytes);
    return sendsKey ? HexFormat.of().formatHex(bytes) : "";
  }

  private static String hostOf(BarrierTaskContext context, int rank) {
    return context.getTaskInfos()[rank].address().replaceAll(":\\d+$", "");
  }

  /** The launchers use the port behind it as well. */
  private static int freePort() throws IOException {
    for (int tries = 0; tries < 50; tries++) {
      try (var server = new ServerSocket(0);
          var next = new ServerSocket(server.getLocalPort() + 1)) {
        return next.getLocalPort() - 1;
      } catch (IOException | IllegalArgumentException e) {
        // Somebody has the next one: another pair is tried.
      }
    }
    throw new IOException("no two free ports in a row");
  }

  private static Path privateFolder() throws IOException {
    return Files.createTempDirectory(
        "flotilla-task-",
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }

  private static Path write(Path file, String text) throws IOException {
    Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    return Files.writeString(file, text);
  }

  private static void delete(@Nullable Path folder) {
    if (folder == null) {
      return;
    }
    try (var files = Files.list(folder)) {
      for (var file : files.toList()) {
        Files.delete(file);
      }
      Files.delete(folder);
    } catch (IOException e) {
      System.err.println("flotilla: " + folder + " was not removed: " + e.getMessage());
    }
  }
}
