package dev.flotilla.launch.tls;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.HexFormat;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;

/**
 * A certificate with its private key, which is kept in memory alone.
 *
 * @param key the private key
 * @param chain the certificate, then those that lead to the authority's
 */
record Credentials(PrivateKey key, List<X509Certificate> chain) {

  Credentials {
    chain = List.copyOf(chain);
  }

  KeyManager[] keyManagers() throws GeneralSecurityException {
    try {
      var noPassword = new char[0];
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      store.setKeyEntry("own", key, noPassword, chain.toArray(X509Certificate[]::new));
      KeyManagerFactory factory = KeyManagerFactory.getInstance("PKIX");
      factory.init(store, noPassword);
      return factory.getKeyManagers();
    } catch (IOException e) {
      throw new GeneralSecurityException("memory cannot be read", e);
    }
  }

  /** Returns the SHA-256 of the certificate, as hexadecimal digits. */
  String fingerprint() {
    return fingerprint(chain.getFirst());
  }

  static String fingerprint(X509Certificate certificate) {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("SHA-256").digest(certificate.getEncoded()));
    } catch (CertificateEncodingException e) {
      throw new IllegalStateException("a certificate was read, but cannot be written", e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM knows SHA-256", e);
    }
  }

  /** Says nothing of the key. */
  @Override
  public String toString() {
    return "certificate of " + chain.getFirst().getSubjectX500Principal();
  }
}
