package dev.flotilla.launch.tls;

import dev.flotilla.control.JobKey;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.X509Certificate;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;

/**
 * Makes connections secure: TLS 1.3, a certificate at both ends, no other version and no exception.
 *
 * <p>With the certificate of the job, that one alone is trusted. With a user's files, whoever has a
 * certificate of the authority is, the end that listens if it is for the name it is called by; the
 * {@linkplain ChannelProof proof} that follows tells who belongs to the job.
 */
public final class SecureChannel {

  private static final String[] PROTOCOLS = {"TLSv1.3"};

  /** The first is by far the fastest where processors have AES. */
  private static final String[] CIPHERS = {
    "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"
  };

  private final SSLContext context;
  private final Credentials credentials;
  private final boolean checksNames;
  private final ChannelProof proof;

  /**
   * Creates a channel.
   *
   * @param checksNames whether the end that listens must have a certificate for its name
   */
  SecureChannel(Credentials credentials, TrustManager trust, boolean checksNames, JobKey key)
      throws GeneralSecurityException {
    this.context = SSLContext.getInstance(PROTOCOLS[0]);
    this.context.init(credentials.keyManagers(), new TrustManager[] {trust}, null);
    this.credentials = credentials;
    this.checksNames = checksNames;
    this.proof = new ChannelProof(key.derived("secure channel"));
  }

  /** Returns a channel with a certificate that is made for the job. */
  public static SecureChannel ofJob(JobKey key) throws IOException {
    try {
      Credentials job = JobCertificate.of(key);
      return new SecureChannel(job, new JobTrust(job), false, key);
    } catch (GeneralSecurityException e) {
      throw new IOException("this JVM has no TLS 1.3: " + e.getMessage(), e);
    }
  }

  /**
   * Returns a channel with a user's certificate.
   *
   * @throws IOException if one of the files is of no use
   */
  public static SecureChannel ofFiles(JobKey key, Path certificate, Path secret, Path authority)
      throws IOException {
    try {
      PemFiles.Content files = new PemFiles(certificate, secret, authority).read();
      return new SecureChannel(files.credentials(), files.trust(), true, key);
    } catch (GeneralSecurityException e) {
      throw new IOException("this JVM has no TLS 1.3: " + e.getMessage(), e);
    }
  }

  /**
   * Checks a user's files.
   *
   * @throws IOException if one of them is of no use
   */
  public static void check(Path certificate, Path secret, Path authority) throws IOException {
    var _ = new PemFiles(certificate, secret, authority).read();
  }

  /**
   * Prepares the first word of a call and throws it away: in a new JVM that takes a second of its
   * processor, and at a door there is little time.
   */
  void rehearse() throws IOException {
    SSLEngine engine = context.createSSLEngine("rehearsal", 1);
    engine.setUseClientMode(true);
    engine.setEnabledProtocols(PROTOCOLS);
    engine.beginHandshake();
    var room = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
    var _ = engine.wrap(ByteBuffer.allocate(0), room);
  }

  /** Returns the SHA-256 of this end's certificate. */
  String fingerprint() {
    return credentials.fingerprint();
  }

  ChannelProof proof() {
    return proof;
  }

  /**
   * Greets as the end that was called; the connection stays open also where that fails.
   *
   * @param begun what has been read of the connection
   * @throws IOException if the other end is not to be trusted
   */
  SSLSocket answer(Socket connection, byte[] begun) throws IOException {
    var socket =
        (SSLSocket)
            context
                .getSocketFactory()
                .createSocket(connection, new ByteArrayInputStream(begun), false);
    SSLParameters parameters = parameters(socket);
    parameters.setNeedClientAuth(true);
    socket.setSSLParameters(parameters);
    socket.startHandshake();
    return socket;
  }

  /**
   * Greets as the end that calls; the connection stays open also where that fails.
   *
   * @param name what the other end's certificate must be for, where certificates have names
   * @param fingerprint the certificate that it must be, where that is known
   * @throws IOException if the other end is not to be trusted
   */
  SSLSocket call(Socket connection, String name, Optional<String> fingerprint) throws IOException {
    var socket =
        (SSLSocket)
            context.getSocketFactory().createSocket(connection, name, connection.getPort(), false);
    SSLParameters parameters = parameters(socket);
    if (checksNames && fingerprint.isEmpty()) {
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
    }
    socket.setSSLParameters(parameters);
    socket.startHandshake();
    if (fingerprint.isPresent() && !isOf(socket, fingerprint.get())) {
      throw new UntrustedException(TlsTrouble.NOT_OF_THE_JOB);
    }
    return socket;
  }

  private static boolean isOf(SSLSocket socket, String fingerprint) throws IOException {
    var leaf = (X509Certificate) socket.getSession().getPeerCertificates()[0];
    return MessageDigest.isEqual(
        Credentials.fingerprint(leaf).getBytes(StandardCharsets.US_ASCII),
        fingerprint.getBytes(StandardCharsets.US_ASCII));
  }

  private static SSLParameters parameters(SSLSocket socket) {
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setProtocols(PROTOCOLS);
    parameters.setCipherSuites(CIPHERS);
    parameters.setUseCipherSuitesOrder(true);
    return parameters;
  }
}
