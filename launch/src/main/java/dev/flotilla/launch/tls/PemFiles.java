package dev.flotilla.launch.tls;

import dev.flotilla.control.JobKey;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.PKIXBuilderParameters;
import java.security.cert.X509CertSelector;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.CertPathTrustManagerParameters;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/**
 * Reads a user's certificate, its private key, and the certificates of the authorities that are
 * trusted, each from a PEM file; all of it is checked before anything starts.
 *
 * @param certificate file of the certificate, with those that lead to the authority's
 * @param key file of the private key, PKCS #8 and not encrypted
 * @param authority file of the authorities' certificates
 */
record PemFiles(Path certificate, Path key, Path authority) {

  private static final long LONGEST_FILE = 1 << 20;
  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([^-]+)-----END \\1-----");

  /** What the files hold. */
  record Content(Credentials credentials, X509TrustManager trust) {}

  /**
   * Reads all three.
   *
   * @throws IOException with what is wrong, and how to mend it
   */
  Content read() throws IOException {
    List<X509Certificate> chain = certificates(certificate);
    List<X509Certificate> authorities = certificates(authority);
    PrivateKey secret = privateKey(chain.getFirst());
    try {
      X509TrustManager trust = trust(authorities);
      requireTrusted(chain, trust);
      return new Content(new Credentials(secret, chain), trust);
    } catch (GeneralSecurityException e) {
      throw new IOException("%s: %s".formatted(certificate, e.getMessage()), e);
    }
  }

  private static List<X509Certificate> certificates(Path file) throws IOException {
    var found = new ArrayList<X509Certificate>();
    try {
      CertificateFactory factory = CertificateFactory.getInstance("X.509");
      for (var it : factory.generateCertificates(new ByteArrayInputStream(bytes(file)))) {
        found.add((X509Certificate) it);
      }
    } catch (CertificateException e) {
      throw new IOException("%s holds no certificates in PEM".formatted(file), e);
    }
    if (found.isEmpty()) {
      throw new IOException("%s holds no certificates in PEM".formatted(file));
    }
    return found;
  }

  private PrivateKey privateKey(X509Certificate own) throws IOException {
    JobKey.requirePrivate(key);
    Matcher block = BLOCK.matcher(new String(bytes(key), StandardCharsets.ISO_8859_1));
    if (!block.find()) {
      throw new IOException("%s holds no private key in PEM".formatted(key));
    }
    if (!block.group(1).equals("PRIVATE KEY")) {
      throw new IOException(
          "%s holds a '%s', but a plain PKCS #8 key is needed: openssl pkcs8 -topk8 -nodes -in %s"
                  .formatted(key, block.group(1), key)
              + " -out NEW");
    }
    try {
      byte[] encoded = Base64.getMimeDecoder().decode(block.group(2));
      PrivateKey secret =
          KeyFactory.getInstance(own.getPublicKey().getAlgorithm())
              .generatePrivate(new PKCS8EncodedKeySpec(encoded));
      requirePair(secret, own);
      return secret;
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw notOfThePair(e);
    }
  }

  private IOException notOfThePair(Exception cause) {
    return new IOException(
        "the private key in %s does not belong to the certificate in %s"
            .formatted(key, certificate),
        cause);
  }

  private void requirePair(PrivateKey secret, X509Certificate own)
      throws GeneralSecurityException, IOException {
    String algorithm =
        switch (secret.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> "EdDSA";
        };
    byte[] words = {1, 2, 3};
    Signature signature = Signature.getInstance(algorithm);
    signature.initSign(secret);
    signature.update(words);
    byte[] signed = signature.sign();
    signature.initVerify(own.getPublicKey());
    signature.update(words);
    if (!signature.verify(signed)) {
      throw notOfThePair(new GeneralSecurityException("another pair"));
    }
  }

  /** Usual validation against these authorities alone; lists of revoked ones are not fetched. */
  private static X509TrustManager trust(List<X509Certificate> authorities)
      throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    for (int i = 0; i < authorities.size(); i++) {
      store.setCertificateEntry("authority " + i, authorities.get(i));
    }
    var parameters = new PKIXBuilderParameters(store, new X509CertSelector());
    parameters.setRevocationEnabled(false);
    TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
    factory.init(new CertPathTrustManagerParameters(parameters));
    return (X509TrustManager) factory.getTrustManagers()[0];
  }

  /** The others would refuse it, one after the other. */
  private void requireTrusted(List<X509Certificate> chain, X509TrustManager trust)
      throws IOException {
    var all = chain.toArray(X509Certificate[]::new);
    String type = chain.getFirst().getPublicKey().getAlgorithm();
    try {
      trust.checkClientTrusted(all, type);
      trust.checkServerTrusted(all, "UNKNOWN");
    } catch (CertificateException e) {
      throw new IOException("%s: %s".formatted(certificate, why(e)), e);
    }
  }

  private String why(CertificateException failure) {
    for (Throwable it = failure; it != null; it = it.getCause()) {
      if (it instanceof CertificateExpiredException) {
        return "the certificate has expired (%s)".formatted(it.getMessage());
      }
      if (it instanceof CertificateNotYetValidException) {
        return "the certificate is not valid yet (%s)".formatted(it.getMessage());
      }
      if (isUnsigned(it)) {
        return "the certificate is not signed by an authority of " + authority;
      }
    }
    return String.valueOf(failure.getMessage());
  }

  private static boolean isUnsigned(Throwable failure) {
    return failure instanceof CertPathBuilderException
        ? failure.getCause() == null
        : failure instanceof CertPathValidatorException
            && String.valueOf(failure.getMessage()).contains("signature check");
  }

  private static byte[] bytes(Path file) throws IOException {
    if (!Files.exists(file)) {
      throw new IOException("%s does not exist".formatted(file));
    }
    if (!Files.isRegularFile(file) || Files.size(file) > LONGEST_FILE) {
      throw new IOException("%s is no PEM file".formatted(file));
    }
    return Files.readAllBytes(file);
  }
}
