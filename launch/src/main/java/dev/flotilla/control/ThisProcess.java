package dev.flotilla.control;

import dev.flotilla.world.RankEnvironment;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** Makes the one link that a process has. */
final class ThisProcess {

  /** Longer than any stop takes: who waits longer has lost its launcher. */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);

  /** The link, made by the first thread that asks for it. */
  static final JobLink LINK = linkIn(System.getenv());

  private ThisProcess() {}

  static JobLink linkIn(Map<String, String> environment) {
    Optional<Path> folder = RankEnvironment.controlFolder(environment);
    if (folder.isPresent()) {
      if (!RankEnvironment.isStartedByLauncher(environment, ProcessHandle.current())) {
        return JobLink.none();
      }
      return toLauncher(new ControlFolder(folder.get()), environment);
    }
    return RankEnvironment.isOneOfSeveral(environment) ? JobLink.none() : local();
  }

  private static JobLink local() {
    var gate = new StopGate(LONGEST_WAIT);
    return new RankLink(Trace.inMemory(), gate, new LocalChannel(gate));
  }

  private static JobLink toLauncher(ControlFolder folder, Map<String, String> environment) {
    int rank = RankEnvironment.launchedRank(environment);
    var gate = new StopGate(LONGEST_WAIT);
    var self = Identity.ofRank(rank, RankEnvironment.restart(environment));
    var channel = new LauncherChannel(folder, self, gate, System.err);
    var link = new RankLink(trace(folder, rank), gate, channel);
    Thread _ = channel.start(link);
    return link;
  }

  /** A trace that only this process sees is better than no training. */
  private static Trace trace(ControlFolder folder, int rank) {
    try {
      return Trace.map(folder.trace(rank));
    } catch (IOException e) {
      System.err.println("flotilla: the launcher cannot see where this rank is: " + e);
      return Trace.inMemory();
    }
  }
}
