package dev.flotilla.launch.tls;

import dev.flotilla.control.PrivateFiles;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** An authority that signs certificates for tests, and writes them to PEM files. */
final class TestAuthority {

  private static final byte[] ECDSA_WITH_SHA256 = {6, 8, 42, -122, 72, -50, 61, 4, 3, 2};
  private static final byte[] COMMON_NAME = {6, 3, 0x55, 4, 3};
  private static final byte[] BASIC_CONSTRAINTS = {6, 3, 0x55, 0x1d, 0x13};
  private static final byte[] ALTERNATIVE_NAMES = {6, 3, 0x55, 0x1d, 0x11};
  private static final Duration DAY = Duration.ofDays(1);

  private final String name;
  private final KeyPair pair = pair();
  private final X509Certificate certificate;
  private int issued = 1;

  TestAuthority(String name) throws Exception {
    this.name = name;
    byte[] isAuthority =
        Der.of(0x30, BASIC_CONSTRAINTS, Der.of(4, Der.of(0x30, Der.of(1, new byte[] {-1}))));
    this.certificate =
        sign(
            name, pair.getPublic(), isAuthority, Instant.now().minus(DAY), Instant.now().plus(DAY));
  }

  private static KeyPair pair() throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(256);
    return generator.generateKeyPair();
  }

  X509Certificate certificate() {
    return certificate;
  }

  /** Issues a certificate for an IPv4 address, or for a host's name. */
  Credentials issue(String subject) throws Exception {
    return issue(subject, Instant.now().minus(DAY), Instant.now().plus(DAY));
  }

  Credentials issueExpired(String subject) throws Exception {
    return issue(subject, Instant.now().minus(DAY.multipliedBy(2)), Instant.now().minus(DAY));
  }

  private Credentials issue(String subject, Instant from, Instant to) throws Exception {
    KeyPair own = pair();
    byte[] subjectName =
        subject.matches("[0-9.]+")
            ? Der.of(0x87, java.net.InetAddress.ofLiteral(subject).getAddress())
            : Der.of(0x82, Der.ascii(subject));
    byte[] names = Der.of(0x30, ALTERNATIVE_NAMES, Der.of(4, Der.of(0x30, subjectName)));
    return new Credentials(
        own.getPrivate(), List.of(sign(subject, own.getPublic(), names, from, to)));
  }

  private X509Certificate sign(
      String subject, PublicKey key, byte[] extension, Instant from, Instant to) throws Exception {
    byte[] algorithm = Der.of(0x30, ECDSA_WITH_SHA256);
    issued++;
    byte[] content =
        Der.of(
            0x30,
            Der.of(0xa0, Der.of(2, new byte[] {2})),
            Der.of(2, new byte[] {(byte) issued}),
            algorithm,
            name(name),
            Der.of(0x30, time(from), time(to)),
            name(subject),
            key.getEncoded(),
            Der.of(0xa3, Der.of(0x30, extension)));
    Signature signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(pair.getPrivate());
    signature.update(content);
    byte[] signed = Der.of(0x30, content, algorithm, Der.of(3, new byte[1], signature.sign()));
    return (X509Certificate)
        CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(signed));
  }

  /** Returns usual validation against this authority. */
  TrustManager trust() throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setCertificateEntry("authority", certificate);
    TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
    factory.init(store);
    return factory.getTrustManagers()[0];
  }

  /** Writes a certificate; returns its file. */
  static Path write(Path file, X509Certificate certificate) throws Exception {
    return Files.writeString(file, pem("CERTIFICATE", certificate.getEncoded()));
  }

  /** Writes a private key; returns its file. */
  static Path write(Path file, Key key) throws IOException {
    Files.deleteIfExists(file);
    try (OutputStream out = PrivateFiles.newFile(file)) {
      out.write(pem("PRIVATE KEY", key.getEncoded()).getBytes(StandardCharsets.US_ASCII));
    }
    return file;
  }

  private static String pem(String kind, byte[] content) {
    String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
    return "-----BEGIN %s-----%n%s%n-----END %s-----%n".formatted(kind, text, kind);
  }

  private static byte[] name(String text) {
    return Der.of(0x30, Der.of(0x31, Der.of(0x30, COMMON_NAME, Der.of(0x0c, Der.ascii(text)))));
  }

  private static byte[] time(Instant time) {
    var format = DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);
    return Der.of(0x18, Der.ascii(format.format(time)));
  }
}
