package dev.flotilla.collective;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What one rank states about itself, with a fingerprint of it.
 *
 * @param host name of the rank's host
 * @param fingerprint digest of all statements
 * @param statements fact by name, in the order in which they were given
 */
record Facts(String host, String fingerprint, Map<String, String> statements) {

  static Facts here(Map<String, String> statements) {
    return new Facts(PeerInfo.hostName(), digest(canonical(statements)), statements);
  }

  static Facts parse(String value) {
    var lines = value.split("\n", -1);
    var statements = new LinkedHashMap<String, String>();
    for (int i = 2; i < lines.length - 1; i++) {
      var parts = lines[i].split("\t", 2);
      statements.put(parts[0].translateEscapes(), parts[1].translateEscapes());
    }
    return new Facts(lines[0], lines[1], statements);
  }

  String format() {
    return host + "\n" + fingerprint + "\n" + canonical(statements);
  }

  /** Returns one line per fact; no name or value can be mistaken for another. */
  private static String canonical(Map<String, String> statements) {
    var text = new StringBuilder();
    statements.forEach(
        (name, value) -> text.append(escape(name)).append('\t').append(escape(value)).append('\n'));
    return text.toString();
  }

  private static String escape(String text) {
    return text.replace("\\", "\\\\")
        .replace("\t", "\\t")
        .replace("\n", "\\n")
        .replace("\r", "\\r")
        .replace("\0", "\\0");
  }

  private static String digest(String text) {
    try {
      var sha = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(sha.digest(text.getBytes(UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
