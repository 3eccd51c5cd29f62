package dev.flotilla.launch.tls;

import dev.flotilla.control.JobKey;
import java.io.ByteArrayInputStream;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.NamedParameterSpec;
import java.util.List;

/**
 * Makes the certificate of a job from its key.
 *
 * <p>The pair is Ed25519, its private half a function of the job's key, and so is every byte of the
 * certificate, which it signs itself (RFC 8410, RFC 5280). So each launcher makes the same one
 * without a word to the others, and whoever can answer for it knows the key. It never expires, as
 * it ends with the job; what is sent stays secret even from somebody who learns the key later, as
 * TLS 1.3 agrees on fresh secrets for each connection.
 */
final class JobCertificate {

  private static final int SEQUENCE = 0x30;
  private static final int SET = 0x31;
  private static final int INTEGER = 0x02;
  private static final int BIT_STRING = 0x03;
  private static final int UTF8 = 0x0c;
  private static final int UTC_TIME = 0x17;
  private static final int GENERALIZED_TIME = 0x18;
  private static final int VERSION = 0xa0;
  private static final byte[] OF_ED25519 = {6, 3, 0x2b, 0x65, 0x70};
  private static final byte[] OF_COMMON_NAME = {6, 3, 0x55, 4, 3};
  private static final String BEGIN = "250101000000Z";
  private static final String NEVER = "99991231235959Z";

  private JobCertificate() {}

  static Credentials of(JobKey key) {
    try {
      KeyPair pair = pair(key.derived("tls").prove("private half").bytes());
      byte[] content = content(pair.getPublic().getEncoded());
      Signature signature = Signature.getInstance("Ed25519");
      signature.initSign(pair.getPrivate());
      signature.update(content);
      byte[] signed =
          Der.of(SEQUENCE, content, algorithm(), Der.of(BIT_STRING, new byte[1], signature.sign()));
      var certificate =
          (X509Certificate)
              CertificateFactory.getInstance("X.509")
                  .generateCertificate(new ByteArrayInputStream(signed));
      certificate.verify(pair.getPublic());
      return new Credentials(pair.getPrivate(), List.of(certificate));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM since 15 knows Ed25519", e);
    }
  }

  /** A private half is 32 bytes that nobody knows; the generator takes them from here. */
  private static KeyPair pair(byte[] half) throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("Ed25519");
    generator.initialize(NamedParameterSpec.ED25519, new Known(half));
    return generator.generateKeyPair();
  }

  private static byte[] content(byte[] publicKey) {
    byte[] name =
        Der.of(
            SEQUENCE,
            Der.of(SET, Der.of(SEQUENCE, OF_COMMON_NAME, Der.of(UTF8, Der.ascii("flotilla job")))));
    byte[] life =
        Der.of(
            SEQUENCE,
            Der.of(UTC_TIME, Der.ascii(BEGIN)),
            Der.of(GENERALIZED_TIME, Der.ascii(NEVER)));
    return Der.of(
        SEQUENCE,
        Der.of(VERSION, Der.of(INTEGER, new byte[] {2})),
        Der.of(INTEGER, new byte[] {1}),
        algorithm(),
        name,
        life,
        name,
        publicKey);
  }

  private static byte[] algorithm() {
    return Der.of(SEQUENCE, OF_ED25519);
  }

  /** Hands out bytes that are known, once. */
  private static final class Known extends SecureRandom {

    private static final long serialVersionUID = 1;

    private final transient byte[] bytes;

    Known(byte[] bytes) {
      this.bytes = bytes.clone();
    }

    @Override
    public void nextBytes(byte[] target) {
      if (target.length != bytes.length) {
        throw new IllegalStateException("this JVM makes Ed25519 pairs in another way");
      }
      System.arraycopy(bytes, 0, target, 0, bytes.length);
    }
  }
}
