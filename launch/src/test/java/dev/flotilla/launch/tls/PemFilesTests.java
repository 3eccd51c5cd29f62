package dev.flotilla.launch.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is wrong with a user's files is said before anything starts. */
class PemFilesTests {

  @TempDir Path folder;
  private TestAuthority authority;
  private Path certificate;
  private Path key;
  private Path ca;

  @BeforeEach
  void writeFiles() throws Exception {
    authority = new TestAuthority("ours");
    Credentials own = authority.issue("host-0");
    certificate = TestAuthority.write(folder.resolve("cert.pem"), own.chain().getFirst());
    key = TestAuthority.write(folder.resolve("key.pem"), own.key());
    ca = TestAuthority.write(folder.resolve("ca.pem"), authority.certificate());
  }

  private AbstractThrowableAssert<?, ?> assertRefused() {
    return assertThatThrownBy(() -> SecureChannel.check(certificate, key, ca));
  }

  @Test
  void readsACertificateItsKeyAndTheAuthority() throws Exception {
    PemFiles.Content content = new PemFiles(certificate, key, ca).read();
    assertThat(content.credentials().chain()).hasSize(1);
    assertThat(content.credentials().toString()).isEqualTo("certificate of CN=host-0");
  }

  @Test
  void refusesAKeyThatOthersCanRead() throws Exception {
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
    assertRefused().hasMessageContaining("can be read by others");
  }

  @Test
  void refusesTheKeyOfAnotherCertificate() throws Exception {
    TestAuthority.write(key, authority.issue("host-1").key());
    assertRefused().hasMessageContaining("does not belong to the certificate in");
  }

  @Test
  void refusesAKeyOfAnotherForm() throws Exception {
    String text = Files.readString(key);
    Files.writeString(key, text.replace("PRIVATE KEY", "EC PRIVATE KEY"));
    assertRefused().hasMessageContainingAll("'EC PRIVATE KEY'", "openssl pkcs8 -topk8 -nodes");
  }

  @Test
  void refusesACertificateOfAnotherAuthority() throws Exception {
    TestAuthority.write(ca, new TestAuthority("theirs").certificate());
    assertRefused()
        .hasMessage(certificate + ": the certificate is not signed by an authority of " + ca);
  }

  @Test
  void refusesAnExpiredCertificate() throws Exception {
    Credentials old = authority.issueExpired("host-0");
    TestAuthority.write(certificate, old.chain().getFirst());
    TestAuthority.write(key, old.key());
    assertRefused().hasMessageContaining("the certificate has expired");
  }

  @Test
  void namesAFileThatIsMissingOrHoldsSomethingElse() throws Exception {
    Files.writeString(ca, "nothing");
    assertRefused().hasMessage(ca + " holds no certificates in PEM");
    Files.delete(certificate);
    assertRefused().hasMessage(certificate + " does not exist");
  }
}
