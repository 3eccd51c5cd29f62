package dev.flotilla.strategy.compress;

/** The ways of reducing gradients that are weighed against each other. */
enum ExchangeMode {
  DENSE("dense"),
  HALF("bf16 on the wire"),
  SPARSE("dgc");

  private final String words;

  ExchangeMode(String words) {
    this.words = words;
  }

  String words() {
    return words;
  }
}
