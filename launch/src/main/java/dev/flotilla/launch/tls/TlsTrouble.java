package dev.flotilla.launch.tls;

import java.io.IOException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.Locale;
import java.util.Optional;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Says for people why a secure connection does not come about. */
final class TlsTrouble {

  static final String NOT_OF_THE_JOB =
      "its certificate is not that of this job: it has another job key, or somebody is in between";
  static final String GIVE_ALL = "give --secure to the launchers of all hosts, or of none";
  static final String NO_TLS = "it speaks without TLS: " + GIVE_ALL;
  static final String NO_KEY = "it has not proved that it knows the job's key";

  private static final String NOT_SIGNED =
      "its certificate is not signed by an authority of --tls-ca";

  private TlsTrouble() {}

  /** Returns the reason if it will be the same next time; a lost connection may not be. */
  static Optional<String> lasting(IOException failure) {
    if (failure instanceof UntrustedException) {
      return Optional.of(String.valueOf(failure.getMessage()));
    }
    return failure instanceof SSLException && !isCutOff(failure)
        ? Optional.of(reason(failure))
        : Optional.empty();
  }

  /** Tells whether the other end has answered, but not by TLS. */
  static boolean isWithoutTls(Exception failure) {
    return failure instanceof SSLException it && reason(it).equals(NO_TLS);
  }

  private static boolean isCutOff(IOException failure) {
    String text = String.valueOf(failure.getMessage());
    return text.contains("terminated the handshake")
        || text.contains("closed")
        || text.contains("shut down")
        || failure.getCause() instanceof IOException;
  }

  static String reason(IOException failure) {
    for (Throwable it = failure; it != null; it = it.getCause()) {
      Optional<String> known = known(it);
      if (known.isPresent()) {
        return known.get();
      }
    }
    return String.valueOf(failure.getMessage());
  }

  private static Optional<String> known(Throwable failure) {
    String text = String.valueOf(failure.getMessage());
    return Optional.ofNullable(
        switch (failure) {
          case CertificateExpiredException _ -> "its certificate has expired (%s)".formatted(text);
          case CertificateNotYetValidException _ ->
              "its certificate is not valid yet (%s)".formatted(text);
          case CertPathBuilderException _ when failure.getCause() == null -> NOT_SIGNED;
          case CertPathValidatorException _ when text.contains("signature check") -> NOT_SIGNED;
          default -> byText(text);
        });
  }

  private static @Nullable String byText(String text) {
    if (text.equals(NOT_OF_THE_JOB)) {
      return NOT_OF_THE_JOB;
    }
    if (text.contains("subject alternative") || text.startsWith("No name matching")) {
      return "its certificate is for another name (%s)".formatted(text);
    }
    if (text.contains("Unsupported or unrecognized SSL message")) {
      return NO_TLS;
    }
    if (text.contains("Empty client certificate chain")) {
      return "it shows no certificate, or none of an authority that is trusted here";
    }
    if (text.contains("protocol version")
        || text.contains("protocol_version")
        || text.contains("requested protocol")) {
      return "it does not speak TLS 1.3";
    }
    return text.contains("Received fatal alert")
        ? "it does not accept this host's certificate (%s)".formatted(text.toLowerCase(Locale.ROOT))
        : null;
  }
}
