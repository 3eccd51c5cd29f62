package dev.flotilla.launch.tls;

import dev.flotilla.control.Bits256;
import dev.flotilla.control.JobKey;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLSocket;

/**
 * What both ends of a secure connection say first: who calls says where to, and each proves that it
 * knows the job's key.
 *
 * <p>A proof is an HMAC over a secret that TLS derives for this connection alone (RFC 8446, 7.5),
 * and over the words. So it is worth nothing on another connection, and nobody can stand in between
 * by ending TLS on either side, whatever certificates he has.
 */
final class ChannelProof {

  private static final String LABEL = "EXPORTER-flotilla-job";
  private static final int LENGTH = 32;
  private static final int LONGEST_TARGET = 64;
  private static final int WELCOME = 1;
  private static final int NO_SUCH_TARGET = 2;

  private final JobKey key;

  ChannelProof(JobKey key) {
    this.key = key;
  }

  /**
   * Says where a call goes to, and waits for the other end's proof.
   *
   * @throws UntrustedException if it has none
   */
  void call(SSLSocket socket, String target) throws IOException {
    byte[] words = target.getBytes(StandardCharsets.US_ASCII);
    var message = new ByteArrayOutputStream();
    message.write(words.length);
    message.writeBytes(words);
    message.writeBytes(proof(socket, "caller", target).bytes());
    socket.getOutputStream().write(message.toByteArray());
    var in = new DataInputStream(socket.getInputStream());
    int answer = in.readUnsignedByte();
    if (!proof(socket, "listener " + answer, target).matches(bits(in))) {
      throw new UntrustedException(TlsTrouble.NO_KEY);
    }
    if (answer != WELCOME) {
      throw new IOException("nobody waits for '%s' there".formatted(target));
    }
  }

  /**
   * Returns where a call is to go to, once the caller has proved that it may.
   *
   * @throws UntrustedException if it has not
   */
  String take(SSLSocket socket) throws IOException {
    var in = new DataInputStream(socket.getInputStream());
    int length = in.readUnsignedByte();
    if (length > LONGEST_TARGET) {
      throw new UntrustedException(TlsTrouble.NO_KEY);
    }
    String target = new String(in.readNBytes(length), StandardCharsets.US_ASCII);
    if (!proof(socket, "caller", target).matches(bits(in))) {
      throw new UntrustedException(TlsTrouble.NO_KEY);
    }
    return target;
  }

  /** Answers a call, with this end's proof. */
  void answer(SSLSocket socket, String target, boolean isWelcome) throws IOException {
    int answer = isWelcome ? WELCOME : NO_SUCH_TARGET;
    var message = new ByteArrayOutputStream();
    message.write(answer);
    message.writeBytes(proof(socket, "listener " + answer, target).bytes());
    socket.getOutputStream().write(message.toByteArray());
  }

  private static Bits256 bits(DataInputStream in) throws IOException {
    var bytes = new byte[LENGTH];
    in.readFully(bytes);
    return Bits256.of(bytes);
  }

  private Bits256 proof(SSLSocket socket, String speaker, String target) throws IOException {
    var session = (ExtendedSSLSession) socket.getSession();
    byte[] secret = session.exportKeyingMaterialData(LABEL, new byte[0], LENGTH);
    return key.prove("tls %s %s %s".formatted(speaker, HexFormat.of().formatHex(secret), target));
  }
}
