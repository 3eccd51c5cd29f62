package dev.flotilla.collective;

import dev.flotilla.world.ExitCoded;

/** Thrown on every rank when ranks were started with different settings; names both sides. */
public final class AgreementException extends RuntimeException implements ExitCoded {

  /** Creates an exception that says which ranks have what. */
  public AgreementException(String message) {
    super(message);
  }

  @Override
  public int exitCode() {
    return 2;
  }
}
