package dev.flotilla.launch.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.control.JobKey;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.KeyManagementException;
import java.time.Duration;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who is let in at a door, and whom a caller believes. */
@Timeout(60)
class SecureChannelTests {

  private static final String HOST = "127.0.0.1";
  private static final JobKey KEY = JobKey.of("k".repeat(64));

  private Optional<TestDoor> opened = Optional.empty();

  @AfterEach
  void close() throws IOException {
    if (opened.isPresent()) {
      opened.get().close();
    }
  }

  private TestDoor door(SecureChannel channel) throws IOException {
    opened = Optional.of(new TestDoor(channel, Duration.ofSeconds(10)));
    return opened.get();
  }

  private static SecureChannel channel(TestAuthority authority, Credentials own) throws Exception {
    return new SecureChannel(own, authority.trust(), true, KEY);
  }

  private static void assertCarries(Socket near, Socket far) throws IOException {
    near.getOutputStream().write("to the far end".getBytes(StandardCharsets.US_ASCII));
    near.shutdownOutput();
    assertThat(new String(far.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
        .isEqualTo("to the far end");
    // One direction has ended; the other goes on.
    far.getOutputStream().write("and back".getBytes(StandardCharsets.US_ASCII));
    far.close();
    assertThat(new String(near.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
        .isEqualTo("and back");
  }

  /** The other end of a call that is refused reads nothing, and nothing is reached. */
  private static void assertRefused(Socket near) throws IOException {
    int first;
    try {
      first = near.getInputStream().read();
    } catch (IOException reset) {
      first = -1;
    }
    assertThat(first).isNegative();
  }

  @Test
  void launchersOfOneJobTrustEachOtherByTheKeyAlone() throws Exception {
    TestDoor door = door(SecureChannel.ofJob(KEY));
    Socket near = door.call(SecureChannel.ofJob(KEY), HOST, "target");
    assertCarries(near, door.accepted());
    assertThat(door.hasWarned()).isFalse();
  }

  @Test
  void launchersOfOneAuthorityTrustEachOther() throws Exception {
    var authority = new TestAuthority("ours");
    TestDoor door = door(channel(authority, authority.issue(HOST)));
    Socket near = door.call(channel(authority, authority.issue("host-1")), HOST, "target");
    assertCarries(near, door.accepted());
  }

  @Test
  void nothingElseIsBehindADoor() throws Exception {
    TestDoor door = door(SecureChannel.ofJob(KEY));
    assertRefused(door.call(SecureChannel.ofJob(KEY), HOST, "22"));
    assertThat(door.failure()).hasMessage("nobody waits for '22' there");
  }

  @Test
  void aLauncherWithAnotherJobKeyIsRefusedByBothEnds() throws Exception {
    TestDoor door = door(SecureChannel.ofJob(KEY));
    assertRefused(door.call(SecureChannel.ofJob(JobKey.known()), HOST, "target"));
    assertThat(TlsTrouble.lasting(door.failure()).orElseThrow())
        .isEqualTo(
            "its certificate is not that of this job: it has another job key, or somebody is in"
                + " between");
    assertThat(door.warning()).startsWith("somebody at 127.0.0.1 was turned away (it does not");
  }

  @Test
  void aCertificateOfTheAuthorityIsNotEnoughWithoutTheKey() throws Exception {
    var authority = new TestAuthority("ours");
    TestDoor door = door(channel(authority, authority.issue(HOST)));
    var other = new SecureChannel(authority.issue(HOST), authority.trust(), true, JobKey.known());
    assertRefused(door.call(other, HOST, "target"));
    assertThat(door.warning()).contains("it has not proved that it knows the job's key");
  }

  /** The other end has everything but the key, so that it could stand in between. */
  @Test
  void aCallerBelievesNobodyWithoutTheKey() throws Exception {
    var authority = new TestAuthority("ours");
    TestDoor door =
        door(new SecureChannel(authority.issue(HOST), authority.trust(), true, JobKey.known()));
    assertRefused(door.call(channel(authority, authority.issue(HOST)), HOST, "target"));
    door.failure();
  }

  @Test
  void refusesACertificateOfAnotherAuthority() throws Exception {
    var ours = new TestAuthority("ours");
    var theirs = new TestAuthority("theirs");
    TestDoor door = door(channel(ours, ours.issue(HOST)));
    assertRefused(door.call(channel(theirs, theirs.issue(HOST)), HOST, "target"));
    assertThat(TlsTrouble.lasting(door.failure()))
        .contains("its certificate is not signed by an authority of --tls-ca");

    var believesUs = new SecureChannel(theirs.issue(HOST), ours.trust(), true, KEY);
    assertRefused(door.call(believesUs, HOST, "target"));
    assertThat(TlsTrouble.lasting(door.failure()).orElseThrow())
        .startsWith("it does not accept this host's certificate");
  }

  /** Of the same name, as its certificates would not even be shown otherwise. */
  @Test
  void namesACertificateOfAnotherAuthorityAtTheDoor() throws Exception {
    var ours = new TestAuthority("ours");
    var theirs = new TestAuthority("ours");
    TestDoor door = door(channel(ours, ours.issue(HOST)));
    door.call(new SecureChannel(theirs.issue(HOST), ours.trust(), true, KEY), HOST, "target");
    assertThat(door.warning()).contains("its certificate is not signed by an authority");
  }

  @Test
  void refusesAnExpiredCertificate() throws Exception {
    var ours = new TestAuthority("ours");
    TestDoor door = door(channel(ours, ours.issue(HOST)));
    assertRefused(door.call(channel(ours, ours.issueExpired(HOST)), HOST, "target"));
    assertThat(door.warning()).contains("its certificate has expired");
  }

  @Test
  void aCallerRefusesAnExpiredCertificate() throws Exception {
    var ours = new TestAuthority("ours");
    TestDoor door = door(channel(ours, ours.issueExpired(HOST)));
    assertRefused(door.call(channel(ours, ours.issue(HOST)), HOST, "target"));
    assertThat(TlsTrouble.lasting(door.failure()).orElseThrow())
        .startsWith("its certificate has expired");
  }

  @Test
  void refusesACertificateForAnotherName() throws Exception {
    var ours = new TestAuthority("ours");
    TestDoor door = door(channel(ours, ours.issue("10.9.8.7")));
    assertRefused(door.call(channel(ours, ours.issue(HOST)), HOST, "target"));
    assertThat(TlsTrouble.lasting(door.failure()).orElseThrow())
        .startsWith("its certificate is for another name");
  }

  @Test
  void refusesTls12() throws Exception {
    TestDoor door = door(SecureChannel.ofJob(KEY));
    assertThat(greet(door, "TLSv1.2", JobCertificate.of(KEY).keyManagers())).isFalse();
    assertThat(door.warning()).contains("it does not speak TLS 1.3");
  }

  @Test
  void refusesWhoShowsNoCertificate() throws Exception {
    TestDoor door = door(SecureChannel.ofJob(KEY));
    assertThat(greet(door, "TLSv1.3", new KeyManager[0])).isFalse();
    assertThat(door.warning()).contains("it shows no certificate");
  }

  /** Greets as some other program would; tells whether anything can be read then. */
  private static boolean greet(TestDoor door, String version, KeyManager[] own) throws Exception {
    SSLContext context = context(version, own);
    try (var socket =
        (SSLSocket)
            context
                .getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(), door.port())) {
      socket.setSoTimeout(10_000);
      socket.setEnabledProtocols(new String[] {version});
      socket.startHandshake();
      return socket.getInputStream().read() >= 0;
    } catch (IOException e) {
      return false;
    }
  }

  private static SSLContext context(String version, KeyManager[] own) throws Exception {
    SSLContext context = SSLContext.getInstance(version);
    try {
      context.init(
          own, new javax.net.ssl.TrustManager[] {new JobTrust(JobCertificate.of(KEY))}, null);
    } catch (KeyManagementException e) {
      throw new IllegalStateException(e);
    }
    return context;
  }

  @Test
  void tellsALauncherWithoutTlsWhyItIsRefused() throws Exception {
    TestDoor door = door(SecureChannel.ofJob(KEY));
    try (var plain = new Socket(InetAddress.getLoopbackAddress(), door.port())) {
      plain.setSoTimeout(10_000);
      OutputStream out = plain.getOutputStream();
      out.write(new byte[] {0, 0, 0, 1});
      assertThat(new String(plain.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
          .contains("this job runs with --secure: give --secure to the launchers of all hosts");
    }
    assertThat(door.warning()).contains("it speaks without TLS");
  }

  @Test
  void theCertificateOfAJobIsAFunctionOfItsKey() {
    Credentials first = JobCertificate.of(KEY);
    assertThat(JobCertificate.of(JobKey.of("k".repeat(64))).chain()).isEqualTo(first.chain());
    assertThat(JobCertificate.of(KEY.derived("another")).fingerprint())
        .isNotEqualTo(first.fingerprint());
    assertThat(first.toString()).isEqualTo("certificate of CN=flotilla job");
  }

  @Test
  void aHostHasOneLoopbackAddressOnAllHosts() {
    Aliases aliases = Aliases.of(KEY);
    assertThat(aliases.of(0)).isNotEqualTo(aliases.of(1)).isEqualTo(Aliases.of(KEY).of(0));
    assertThat(new Aliases((1 << 22) - 1).of(0).getHostAddress()).isEqualTo("127.127.255.255");
    assertThat(new Aliases((1 << 22) - 1).of(1).getHostAddress()).isEqualTo("127.64.0.0");
  }
}
