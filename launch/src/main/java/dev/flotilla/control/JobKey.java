package dev.flotilla.control;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret that everyone on the control channel of a job must know.
 *
 * <p>It never crosses the channel: both ends prove that they know it. It is handed on in a file
 * that only its owner can read, never in arguments, variables or logs.
 */
public final class JobKey {

  private static final String ALGORITHM = "HmacSHA256";
  private static final int SHORTEST_FILE = 32;
  private static final long LONGEST_FILE = 64 * 1024;
  private static final Set<PosixFilePermission> OF_OTHERS =
      Set.of(
          PosixFilePermission.GROUP_READ,
          PosixFilePermission.GROUP_WRITE,
          PosixFilePermission.OTHERS_READ,
          PosixFilePermission.OTHERS_WRITE);

  private final SecretKeySpec secret;

  private JobKey(byte[] text) {
    this.secret = new SecretKeySpec(digest(text), ALGORITHM);
  }

  /** Returns the content of a new key file: 256 random bits. */
  public static String newText() {
    return HexFormat.of().formatHex(Bits256.random().bytes());
  }

  /** Returns the key that a text stands for. */
  public static JobKey of(String text) {
    return new JobKey(text.strip().getBytes(StandardCharsets.UTF_8));
  }

  /** Returns a key that everybody knows, for a network where everybody is trusted. */
  public static JobKey known() {
    return of("flotilla without a key");
  }

  /**
   * Reads a key file.
   *
   * @throws IOException if it cannot be read, is shorter than 32 characters, or others may read it
   */
  public static JobKey read(Path file) throws IOException {
    if (Files.size(file) > LONGEST_FILE) {
      throw new IOException("%s is too long for a key".formatted(file));
    }
    if (isOpenToOthers(file)) {
      throw new IOException(
          "%s can be read by others; a key file must have mode 0600 (chmod 600 %s)"
              .formatted(file, file));
    }
    String text = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
    if (text.length() < SHORTEST_FILE) {
      throw new IOException(
          "%s holds %d characters, but a key must have %d or more (openssl rand -hex 32)"
              .formatted(file, text.length(), SHORTEST_FILE));
    }
    return of(text);
  }

  private static boolean isOpenToOthers(Path file) throws IOException {
    return file.getFileSystem().supportedFileAttributeViews().contains("posix")
        && Files.getPosixFilePermissions(file).stream().anyMatch(OF_OTHERS::contains);
  }

  /** Returns a proof that its maker knows the key, for these words alone. */
  Bits256 prove(String words) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(secret);
      return Bits256.of(mac.doFinal(words.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM knows " + ALGORITHM, e);
    }
  }

  private static byte[] digest(byte[] text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM knows SHA-256", e);
    }
  }

  /** Says nothing of the secret. */
  @Override
  public String toString() {
    return "job key";
  }
}
