package dev.flotilla.board.live;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.Optional;

/**
 * Who may look: whoever has opened the printed link has a cookie. A link's token opens once; the
 * next one is another.
 */
final class Access {

  private static final int TOKEN_BYTES = 16;
  private static final int COOKIE_BYTES = 32;
  private static final int MOST_SESSIONS = 32;

  private final SecureRandom random = new SecureRandom();
  private final Deque<byte[]> cookies = new ArrayDeque<>();
  private String token = newSecret(TOKEN_BYTES);

  /** Returns the token of the next link. */
  synchronized String token() {
    return token;
  }

  /** Exchanges a token for the value of a cookie; nothing if it is not the one of the last link. */
  synchronized Optional<String> exchange(String offered) {
    if (!MessageDigest.isEqual(digest(offered), digest(token))) {
      return Optional.empty();
    }
    token = newSecret(TOKEN_BYTES);
    String cookie = newSecret(COOKIE_BYTES);
    cookies.addLast(digest(cookie));
    if (cookies.size() > MOST_SESSIONS) {
      cookies.removeFirst();
    }
    return Optional.of(cookie);
  }

  /** Tells whether a cookie is one of those given out. */
  synchronized boolean isKnown(String cookie) {
    byte[] offered = digest(cookie);
    boolean isKnown = false;
    for (byte[] known : cookies) {
      isKnown |= MessageDigest.isEqual(offered, known);
    }
    return isKnown;
  }

  private String newSecret(int bytes) {
    var secret = new byte[bytes];
    random.nextBytes(secret);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
  }

  private static byte[] digest(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every JDK has SHA-256", impossible);
    }
  }
}
