package dev.flotilla.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class HubTests {

  private static final Duration GREETING_TAKES = Duration.ofMillis(500);
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  @TempDir Path path;
  private ControlFolder folder;
  private Hub hub;
  private final List<SocketChannel> opened = new ArrayList<>();

  @BeforeEach
  void open() throws IOException {
    folder = new ControlFolder(path);
    hub = Hub.open(GREETING_TAKES);
    hub.listenForRanks(folder.listen(), folder.key());
  }

  @AfterEach
  void close() throws IOException {
    for (SocketChannel channel : opened) {
      channel.close();
    }
    hub.close();
  }

  private SocketChannel connect() throws IOException {
    SocketChannel channel = folder.connect();
    opened.add(channel);
    return channel;
  }

  /** Connects and greets as a rank does; returns the hub's last word. */
  private Frame greet(JobKey key, Identity identity) throws Exception {
    var wire = new Wire(connect());
    var challenge = (Frame.Challenge) receive(wire);
    wire.send(Greeting.hello(key, challenge, identity));
    return receive(wire);
  }

  private static Frame receive(Wire wire) throws Exception {
    var frames = new ArrayList<Frame>();
    while (frames.isEmpty()) {
      wire.receiveOne((frame, _) -> frames.add(frame));
      Thread.sleep(1);
    }
    return frames.getFirst();
  }

  /** A rank that has greeted, with the seals of its connection. */
  private Wire join(Identity identity) throws Exception {
    var wire = new Wire(connect());
    var greeter = new ClientGreeter(folder.key(), identity);
    assertThat(greeter.take(receive(wire), wire)).isEmpty();
    assertThat(greeter.take(receive(wire), wire)).isPresent();
    wire.trust(greeter.seals());
    assertThat(next()).isEqualTo(new HubEvent.Joined(identity.peer()));
    return wire;
  }

  private HubEvent next() throws InterruptedException {
    return hub.poll(PATIENCE).orElseThrow();
  }

  @Test
  void letsARankInThatKnowsTheKey() throws Exception {
    assertThat(greet(folder.key(), Identity.ofRank(3, 0))).isInstanceOf(Frame.Welcome.class);
    assertThat(next()).isEqualTo(new HubEvent.Joined(new Peer.Rank(3)));

    opened.getFirst().close();
    assertThat(next()).isEqualTo(new HubEvent.Left(new Peer.Rank(3)));
  }

  @Test
  void refusesAWrongKeyAnEarlierAttemptAndAWrongPlace() throws Exception {
    hub.expect(2);
    assertThat(greet(JobKey.known(), Identity.ofRank(3, 2)))
        .isEqualTo(new Frame.Refused("wrong job key"));
    assertThat(greet(folder.key(), Identity.ofRank(3, 1)))
        .isEqualTo(new Frame.Refused("this rank belongs to an earlier attempt"));
    assertThat(greet(folder.key(), Identity.ofHost(1)))
        .isEqualTo(new Frame.Refused("wrong place to connect to"));
    assertThat(hub.poll(Duration.ofMillis(200))).isEmpty();
  }

  @Test
  void refusesAProofThatWasUsedBefore() throws Exception {
    var first = new Wire(connect());
    Frame.Hello hello =
        Greeting.hello(folder.key(), (Frame.Challenge) receive(first), Identity.ofRank(1, 0));
    first.send(hello);
    assertThat(receive(first)).isInstanceOf(Frame.Welcome.class);
    opened.getFirst().close();

    var second = new Wire(connect());
    assertThat(receive(second)).isInstanceOf(Frame.Challenge.class);
    second.send(hello);

    assertThat(receive(second)).isEqualTo(new Frame.Refused("wrong job key"));
  }

  @Test
  void refusesARankThatIsThereAlready() throws Exception {
    greet(folder.key(), Identity.ofRank(1, 0));
    greet(folder.key(), Identity.ofRank(1, 0));

    assertClosed(opened.get(1));
    assertThat(next()).isEqualTo(new HubEvent.Joined(new Peer.Rank(1)));
    assertThat(hub.poll(Duration.ofMillis(200))).isEmpty();
  }

  @Test
  void aLauncherThatComesBackTakesItsOwnPlaceAndNobodyElses() throws Exception {
    Path hosts = path.resolve("hosts");
    PrivateFiles.createFolders(hosts);
    folder = new ControlFolder(hosts);
    hub.listenForHosts(folder.listen(), folder.key());
    Identity one = Identity.ofHost(1);
    greet(folder.key(), one);
    assertThat(next()).isEqualTo(new HubEvent.Joined(new Peer.Host(1)));

    assertThat(greet(folder.key(), one)).isInstanceOf(Frame.Welcome.class);
    assertThat(next()).isEqualTo(new HubEvent.Left(new Peer.Host(1)));
    assertThat(next()).isEqualTo(new HubEvent.Joined(new Peer.Host(1)));
    assertClosed(opened.getFirst());

    assertThat(greet(folder.key(), Identity.ofHost(1)))
        .isEqualTo(
            new Frame.Refused(
                "another launcher is connected as host 1; give each host a --node-rank of its"
                    + " own"));
  }

  @Test
  void cutsAStrangerWhoAnnouncesALongFrame() throws IOException {
    SocketChannel stranger = connect();
    stranger.write(ByteBuffer.allocate(4).putInt(FrameCodec.LONGEST_OF_STRANGERS + 1).flip());

    assertClosed(stranger);
  }

  @Test
  void cutsAStrangerWhoSaysNothing() throws IOException {
    SocketChannel silent = connect();

    assertClosed(silent);
  }

  @Test
  void letsRanksInThoughStrangersHoldManyConnections() throws Exception {
    for (int i = 0; i < 400; i++) {
      connect();
    }
    assertThat(greet(folder.key(), Identity.ofRank(0, 0))).isInstanceOf(Frame.Welcome.class);
    assertThat(next()).isEqualTo(new HubEvent.Joined(new Peer.Rank(0)));
  }

  @Test
  void servesRanksWhileStrangersSendNoise() throws Exception {
    var random = new Random(7);
    for (int i = 0; i < 200; i++) {
      var noise = new byte[1 + random.nextInt(300)];
      random.nextBytes(noise);
      connect().write(ByteBuffer.wrap(noise));
    }
    assertThat(greet(folder.key(), Identity.ofRank(0, 0))).isInstanceOf(Frame.Welcome.class);
    assertThat(next()).isEqualTo(new HubEvent.Joined(new Peer.Rank(0)));
  }

  @Test
  void dropsARankThatNeverReads() throws Exception {
    greet(folder.key(), Identity.ofRank(0, 0));
    assertThat(next()).isEqualTo(new HubEvent.Joined(new Peer.Rank(0)));

    for (int i = 0; i < 2000; i++) {
      hub.send(new Peer.Rank(0), new Frame.StopAsked("x".repeat(4000)));
    }

    assertThat(next()).isEqualTo(new HubEvent.Left(new Peer.Rank(0)));
  }

  @Test
  void takesSealedFramesInTheirOrderAndNothingElseAfterTheGreeting() throws Exception {
    var sealed = join(Identity.ofRank(0, 0));
    sealed.send(new Frame.StopAsked("SIGTERM"), 0);
    assertThat(next())
        .isEqualTo(new HubEvent.Came(new Peer.Rank(0), new Frame.StopAsked("SIGTERM")));

    join(Identity.ofRank(1, 0));
    ByteBuffer plain = FrameCodec.encode(new Frame.StopAsked("SIGTERM"));
    opened.get(1).write(plain);

    assertThat(next()).isEqualTo(new HubEvent.Left(new Peer.Rank(1)));
  }

  @Test
  void cutsARankThatSpeaksInTheNameOfAnotherAttempt() throws Exception {
    Wire rank = join(Identity.ofRank(0, 0));
    rank.send(new Frame.StopAsked("SIGTERM"), 1);

    assertThat(next()).isEqualTo(new HubEvent.Left(new Peer.Rank(0)));
  }

  @Test
  void cutsRanksOfAnEarlierAttemptWhenTheNextBegins() throws Exception {
    join(Identity.ofRank(0, 0));
    hub.expect(1);

    assertThat(next()).isEqualTo(new HubEvent.Left(new Peer.Rank(0)));
    assertThat(greet(folder.key(), Identity.ofRank(0, 0)))
        .isEqualTo(new Frame.Refused("this rank belongs to an earlier attempt"));
  }

  @Test
  void aFloodPushesNobodyOutWhoHasBegunToGreet() throws Exception {
    var first = new Wire(connect());
    Frame.Hello hello =
        Greeting.hello(folder.key(), (Frame.Challenge) receive(first), Identity.ofRank(0, 0));
    ByteBuffer bytes = FrameCodec.encode(hello);
    SocketChannel begun = opened.getFirst();
    begun.write(bytes.slice(0, 20));
    Thread.sleep(50);
    for (int i = 0; i < 400; i++) {
      connect();
    }
    begun.write(bytes.slice(20, bytes.remaining() - 20));

    assertThat(receive(first)).isInstanceOf(Frame.Welcome.class);
  }

  /** Whoever holds one address takes a quarter of the places at most, and others find room. */
  @Test
  void oneAddressHoldsAQuarterOfThePlacesAtMost() throws Exception {
    var server = listening();
    for (int i = 0; i < WaitingRoom.MOST_OF_ONE_ADDRESS; i++) {
      begin(connectFrom("127.0.0.2", server));
    }

    assertClosed(connectFrom("127.0.0.2", server));

    var member = new Wire(connectFrom("127.0.0.3", server));
    member.send(
        Greeting.hello(folder.key(), (Frame.Challenge) receive(member), Identity.ofHost(1)));
    assertThat(receive(member)).isInstanceOf(Frame.Welcome.class);
    assertThat(next()).isEqualTo(new HubEvent.Joined(new Peer.Host(1)));
  }

  /** Sends a part of a greeting, and waits until the hub must have seen it. */
  private static void begin(SocketChannel channel) throws Exception {
    channel.read(ByteBuffer.allocate(100));
    channel.write(ByteBuffer.wrap(new byte[] {0, 0}));
    Thread.sleep(5);
  }

  private ServerSocketChannel listening() throws IOException {
    var server =
        ServerSocketChannel.open()
            .bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
    hub.listenForHosts(server, folder.key());
    return server;
  }

  private SocketChannel connectFrom(String address, ServerSocketChannel server) throws IOException {
    SocketChannel channel = SocketChannel.open().bind(new InetSocketAddress(address, 0));
    opened.add(channel);
    channel.connect(server.getLocalAddress());
    return channel;
  }

  @Test
  void namesAnAddressWithoutTheKeyOnce() throws Exception {
    var server = listening();
    for (int i = 0; i < 3; i++) {
      var wire = new Wire(connectFrom("127.0.0.4", server));
      wire.send(
          Greeting.hello(JobKey.known(), (Frame.Challenge) receive(wire), Identity.ofHost(1)));
      assertThat(receive(wire)).isEqualTo(new Frame.Refused("wrong job key"));
    }

    assertThat(next())
        .isEqualTo(
            new HubEvent.Warning(
                "somebody at 127.0.0.4 who has not proved to know the job's key was turned away"
                    + " (wrong job key)"));
    assertThat(hub.poll(Duration.ofMillis(200))).isEmpty();
  }

  @Test
  void usesLoopbackWhereTheNameOfASocketWouldBeTooLong() throws Exception {
    Path deep = path.resolve("d".repeat(120));
    PrivateFiles.createFolders(deep);
    var far = new ControlFolder(deep);
    hub.listenForRanks(far.listen(), far.key());
    folder = far;

    assertThat(greet(far.key(), Identity.ofRank(5, 0))).isInstanceOf(Frame.Welcome.class);
  }

  private static void assertClosed(SocketChannel channel) throws IOException {
    channel.configureBlocking(false);
    var room = ByteBuffer.allocate(1000);
    await().atMost(PATIENCE).until(() -> isClosed(channel, room.clear()));
  }

  private static boolean isClosed(SocketChannel channel, ByteBuffer room) {
    try {
      return channel.read(room) < 0;
    } catch (IOException reset) {
      return true;
    }
  }

  @Test
  void aLinkRefusesALauncherThatDoesNotKnowTheKey() throws Exception {
    var greeter = new ClientGreeter(JobKey.known(), Identity.ofRank(0, 0));
    var wire = new Wire(connect());
    Optional<Identity> peer = greeter.take(receive(wire), wire);

    assertThat(peer).isEmpty();
    assertThat(receive(wire)).isInstanceOf(Frame.Refused.class);
  }
}
