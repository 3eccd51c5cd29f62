package dev.flotilla.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The control plane alone, with as many ranks as a small cluster has. */
@Timeout(60)
class ManyRanksTests {

  private static final int RANKS = 256;
  private static final Duration JOINED_WITHIN = Duration.ofSeconds(10);
  private static final Duration TOLD_WITHIN = Duration.ofSeconds(5);

  @TempDir Path path;
  private final List<LauncherChannel> channels = new ArrayList<>();
  private final List<RankLink> links = new ArrayList<>();
  private final ByteArrayOutputStream log = new ByteArrayOutputStream();
  private Hub hub;
  private ControlFolder folder;

  @BeforeEach
  void open() throws IOException {
    folder = new ControlFolder(path);
    hub = Hub.open();
    hub.listenForRanks(folder.listen(), folder.key());
  }

  @AfterEach
  void close() {
    channels.forEach(LauncherChannel::close);
    hub.close();
  }

  private void join(int rank) {
    var gate = new StopGate(Duration.ofSeconds(20));
    var out = new PrintStream(log, true, StandardCharsets.UTF_8);
    var channel = new LauncherChannel(folder, Identity.ofRank(rank, 0), gate, out);
    var link = new RankLink(Trace.inMemory(), gate, channel);
    channels.add(channel);
    links.add(link);
    channel.start(link);
  }

  /** Waits until so many different ranks have done something. */
  private void await(Class<? extends HubEvent> kind, Duration longest) throws InterruptedException {
    long deadline = System.nanoTime() + longest.toNanos();
    Set<Peer> seen = new HashSet<>();
    while (seen.size() < RANKS) {
      long left = deadline - System.nanoTime();
      assertThat(left).as("time left with %d of %d ranks", seen.size(), RANKS).isPositive();
      Optional<HubEvent> event = hub.poll(Duration.ofNanos(left));
      event.filter(kind::isInstance).flatMap(ManyRanksTests::peer).ifPresent(seen::add);
    }
  }

  private static Optional<Peer> peer(HubEvent event) {
    return switch (event) {
      case HubEvent.Joined(Peer peer) -> Optional.of(peer);
      case HubEvent.Came(Peer peer, Frame.Noted()) -> Optional.of(peer);
      default -> Optional.empty();
    };
  }

  @Test
  void allJoinAndLearnOfADeathInTime() throws InterruptedException {
    for (int rank = 0; rank < RANKS; rank++) {
      join(rank);
    }
    await(HubEvent.Joined.class, JOINED_WITHIN);

    var notice =
        new FailureNotice(7, "h", 1, 137, "SIGKILL", "killed", "update 1", "log", List.of());
    hub.sendToRanks(new Frame.Notice(notice));

    await(HubEvent.Came.class, TOLD_WITHIN);
    assertThat(links)
        .allMatch(
            link ->
                link.culprit(Duration.ZERO)
                    .equals(Optional.of("rank 7 on h (pid 1) failed at update 1: killed")));
  }
}
