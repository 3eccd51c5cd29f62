package dev.flotilla.control;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
  private static final int LONGEST_FILE = 64 * 1024;
  private static final Duration LONGEST_READ = Duration.ofSeconds(10);
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
   * Reads a key from a private file, or from an inherited descriptor as {@code /dev/fd/3}.
   *
   * @throws IOException if it cannot be read, is shorter than 32 characters, belongs to somebody
   *     else, or others may read it
   */
  public static JobKey read(Path file) throws IOException {
    boolean isInherited = isInherited(file);
    if (!isInherited && Files.exists(file) && !Files.isRegularFile(file)) {
      // To open a pipe would wait for whoever writes to it, for ever.
      throw new IOException("%s is no regular file".formatted(file));
    }
    requirePrivate(file);
    String text = (isInherited ? inTime(file) : text(file)).strip();
    if (text.length() < SHORTEST_FILE) {
      throw new IOException(
          "%s holds %d characters, but a key must have %d or more (openssl rand -hex 32)"
              .formatted(file, text.length(), SHORTEST_FILE));
    }
    return of(text);
  }

  /**
   * Checks that nobody else can read or write a file with a key.
   *
   * @throws IOException if somebody can, or it is not there
   */
  public static void requirePrivate(Path file) throws IOException {
    if (isOpenToOthers(file)) {
      throw new IOException(
          "%s can be read by others; a key file must have mode 0600 (chmod 600 %s)"
              .formatted(file, file));
    }
    if (!PrivateFiles.isOwn(file)) {
      throw new IOException(
          "%s belongs to %s; a key file must be your own".formatted(file, Files.getOwner(file)));
    }
  }

  /** Tells whether a name stands for an inherited descriptor, which can be read once. */
  public static boolean isInherited(Path file) {
    return file.startsWith("/dev/fd") || file.startsWith("/proc/self/fd");
  }

  private static String text(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(LONGEST_FILE + 1);
      if (bytes.length > LONGEST_FILE) {
        throw new IOException("%s is too long for a key".formatted(file));
      }
      return new String(bytes, StandardCharsets.ISO_8859_1);
    }
  }

  /** The other end of an inherited pipe may never be closed. */
  private static String inTime(Path file) throws IOException {
    var result = new CompletableFuture<String>();
    Thread.ofPlatform()
        .daemon()
        .name("flotilla-key")
        .start(
            () -> {
              try {
                result.complete(text(file));
              } catch (IOException e) {
                result.completeExceptionally(e);
              }
            });
    try {
      return result.get(LONGEST_READ.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new IOException(
          "%s holds no whole key after %d s: close its other end once the key is written"
              .formatted(file, LONGEST_READ.toSeconds()));
    } catch (ExecutionException e) {
      throw new IOException("%s cannot be read: %s".formatted(file, e.getCause()), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while %s was read".formatted(file), e);
    }
  }

  private static boolean isOpenToOthers(Path file) throws IOException {
    return knowsOwners(file)
        && Files.getPosixFilePermissions(file).stream().anyMatch(OF_OTHERS::contains);
  }

  private static boolean knowsOwners(Path file) {
    return file.getFileSystem().supportedFileAttributeViews().contains("posix");
  }

  /** Returns a proof that its maker knows the key, for these words alone. */
  public Bits256 prove(String words) {
    try {
      return Bits256.of(mac().doFinal(words.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM knows " + ALGORITHM, e);
    }
  }

  /** Returns a key for one purpose; who knows it learns nothing of this one. */
  public JobKey derived(String purpose) {
    return new JobKey(prove("key for " + purpose).bytes());
  }

  /** Returns a text that stands for a key of its own, for a file that hands it on. */
  String text() {
    return HexFormat.of().formatHex(prove("text").bytes());
  }

  Mac mac() throws GeneralSecurityException {
    Mac mac = Mac.getInstance(ALGORITHM);
    mac.init(secret);
    return mac;
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
