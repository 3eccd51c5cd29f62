package dev.flotilla.control;

/**
 * How two ends of the channel prove to each other that they know the key.
 *
 * <p>Each proof covers both ends' random numbers, so that none can be used twice, and who speaks,
 * so that none can be sent back.
 */
final class Greeting {

  private Greeting() {}

  /** Returns the answer of a rank or host to a challenge. */
  static Frame.Hello hello(JobKey key, Frame.Challenge challenge, Identity identity) {
    Bits256 nonce = Bits256.random();
    return new Frame.Hello(
        identity.isHost(),
        identity.number(),
        identity.instance(),
        identity.generation(),
        nonce,
        key.prove(words(challenge, identity, nonce)));
  }

  static boolean isProved(JobKey key, Frame.Challenge challenge, Frame.Hello hello) {
    return key.prove(words(challenge, Identity.of(hello), hello.nonce())).matches(hello.proof());
  }

  static Frame.Welcome welcome(JobKey key, Frame.Challenge challenge, Frame.Hello hello) {
    return new Frame.Welcome(key.prove(words(challenge, hello)));
  }

  static boolean isProved(
      JobKey key, Frame.Challenge challenge, Frame.Hello hello, Frame.Welcome welcome) {
    return key.prove(words(challenge, hello)).matches(welcome.proof());
  }

  /** Returns the seals of the frames that follow a greeting. */
  static Seal.Pair seals(
      JobKey key, Frame.Challenge challenge, Frame.Hello hello, boolean listens) {
    return Seal.Pair.of(key, words(challenge, Identity.of(hello), hello.nonce()), listens);
  }

  private static String words(Frame.Challenge challenge, Identity identity, Bits256 nonce) {
    return "hello %s %s %s".formatted(challenge.nonce(), nonce, identity);
  }

  private static String words(Frame.Challenge challenge, Frame.Hello hello) {
    return "welcome %s %s".formatted(challenge.nonce(), hello.nonce());
  }
}
