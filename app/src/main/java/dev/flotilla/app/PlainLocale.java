package dev.flotilla.app;

import java.nio.charset.Charset;
import java.nio.charset.CharsetEncoder;
import java.util.Arrays;

/**
 * Notices arguments that the locale cannot express: under LANG=C the JVM has only ASCII for names
 * of files, and replaces every other byte of an argument before this program sees it.
 */
final class PlainLocale {

  static final String ADVICE =
      "the arguments, or the name of the working folder, have characters that the locale cannot"
          + " express; set LC_ALL=C.UTF-8, or another locale with UTF-8, and try again";

  private static final char REPLACED = '\uFFFD';

  private PlainLocale() {}

  static boolean isInTheWay(String... arguments) {
    return !encoding().equals("UTF-8")
        && (Arrays.stream(arguments).anyMatch(PlainLocale::isDamaged)
            || isDamaged(System.getProperty("user.dir")));
  }

  private static boolean isDamaged(String text) {
    return text.indexOf(REPLACED) >= 0 || !encoder().canEncode(text);
  }

  private static CharsetEncoder encoder() {
    return Charset.forName(encoding()).newEncoder();
  }

  private static String encoding() {
    return System.getProperty("sun.jnu.encoding", "UTF-8");
  }
}
