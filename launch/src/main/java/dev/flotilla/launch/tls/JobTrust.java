package dev.flotilla.launch.tls;

import java.net.Socket;
import java.security.MessageDigest;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/** Trusts the one certificate of the job, and no other. */
final class JobTrust extends X509ExtendedTrustManager {

  private final byte[] trusted;

  JobTrust(Credentials job) throws CertificateException {
    this.trusted = job.chain().getFirst().getEncoded();
  }

  private void check(X509Certificate[] chain) throws CertificateException {
    if (chain.length == 0 || !MessageDigest.isEqual(trusted, chain[0].getEncoded())) {
      throw new CertificateException(TlsTrouble.NOT_OF_THE_JOB);
    }
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
    check(chain);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    check(chain);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    check(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
    check(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    check(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    check(chain);
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return new X509Certificate[0];
  }
}
