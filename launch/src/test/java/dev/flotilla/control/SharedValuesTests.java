package dev.flotilla.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two launchers, with a rank each. */
@Timeout(60)
class SharedValuesTests {

  private static final JobKey KEY = JobKey.of("k".repeat(64));
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  @TempDir Path path;
  private final List<Hub> hubs = new ArrayList<>();
  private final List<LauncherChannel> channels = new ArrayList<>();
  private int port;

  @BeforeEach
  void open() throws IOException {
    ServerSocketChannel server =
        ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    port = ((InetSocketAddress) server.getLocalAddress()).getPort();
    startHost(0).listenForHosts(server, KEY);
    startHost(1).dial(new Dial("127.0.0.1", port, KEY, 1, PATIENCE));
  }

  @AfterEach
  void close() {
    channels.forEach(LauncherChannel::close);
    hubs.forEach(Hub::close);
  }

  private Hub startHost(int node) throws IOException {
    Hub hub = Hub.open();
    hubs.add(hub);
    ControlFolder folder = folder(node);
    PrivateFiles.createFolders(folder.path());
    hub.listenForRanks(folder.listen(), folder.key());
    return hub;
  }

  private ControlFolder folder(int node) {
    return new ControlFolder(path.resolve("host" + node));
  }

  private SharedValues rank(int rank, int attempt) {
    var gate = new StopGate(PATIENCE);
    var channel =
        new LauncherChannel(folder(rank), Identity.ofRank(rank, attempt), gate, System.err);
    channels.add(channel);
    channel.start(new RankLink(Trace.inMemory(), gate, channel));
    return channel.values().orElseThrow();
  }

  private static void put(SharedValues values, String key, String value) throws IOException {
    values.put(key, value.getBytes(StandardCharsets.UTF_8), PATIENCE);
  }

  private static Optional<String> get(SharedValues values, String key) throws IOException {
    return values.get(key).map(it -> new String(it, StandardCharsets.UTF_8));
  }

  private static void awaitValue(SharedValues values, String key, String value) {
    await().atMost(PATIENCE).until(() -> get(values, key).equals(Optional.of(value)));
  }

  @Test
  void everyRankSeesWhatAnyRankHasPut() throws IOException {
    SharedValues first = rank(0, 0);
    SharedValues second = rank(1, 0);
    put(first, "a", "of rank 0");
    put(second, "b", "of rank 1");

    assertThat(get(second, "b")).contains("of rank 1");
    awaitValue(first, "b", "of rank 1");
    awaitValue(second, "a", "of rank 0");
    put(second, "a", "replaced");
    awaitValue(first, "a", "replaced");
    assertThat(first.all("")).containsOnlyKeys("a", "b");
    assertThat(get(first, "c")).isEmpty();
  }

  @Test
  void whatWasPutBeforeIsThereAfterOneQuestion() throws IOException {
    SharedValues first = rank(0, 0);
    SharedValues second = rank(1, 0);
    for (int i = 0; i < 50; i++) {
      put(first, "a" + i, "1");
      second.sync(PATIENCE);
      assertThat(get(second, "a" + i)).contains("1");
      put(second, "b" + i, "2");
      first.sync(PATIENCE);
      assertThat(get(first, "b" + i)).contains("2");
    }
  }

  @Test
  void aRankThatComesLaterCatchesUpAndTheNextAttemptBeginsEmpty() throws IOException {
    put(rank(1, 0), "a", "1");
    awaitValue(rank(0, 0), "a", "1");

    // One host begins the next attempt before the other does.
    hubs.get(1).expect(1);
    var early = new Thread(() -> putNow(rank(1, 1)));
    early.start();
    hubs.get(0).expect(1);
    SharedValues late = rank(0, 1);
    awaitValue(late, "a", "2");
    assertThat(late.all("")).containsOnlyKeys("a");
  }

  private static void putNow(SharedValues values) {
    try {
      put(values, "a", "2");
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aRankOfAnEarlierAttemptCanPutNothing() throws IOException {
    SharedValues old = rank(0, 0);
    put(old, "a", "1");
    hubs.get(0).expect(1);
    SharedValues young = rank(0, 1);
    put(young, "b", "2");

    assertThatThrownBy(() -> old.put("a", new byte[1], PATIENCE)).isInstanceOf(IOException.class);
    assertThat(get(young, "a")).isEmpty();
  }

  @Test
  void saysThatTheLauncherIsLost() throws IOException {
    SharedValues values = rank(0, 0);
    put(values, "a", "1");
    hubs.removeFirst().close();

    await().atMost(PATIENCE).until(() -> isLost(values));
  }

  private static boolean isLost(SharedValues values) {
    try {
      values.get("a");
      return false;
    } catch (IOException e) {
      return String.valueOf(e.getMessage()).equals("the connection to the launcher is lost");
    }
  }

  @Test
  void refusesAValueThatIsTooLong() {
    assertThatThrownBy(
            () -> rank(0, 0).put("a", new byte[SharedValues.LONGEST_VALUE + 1], PATIENCE))
        .hasMessageContaining("is too long");
  }
}
