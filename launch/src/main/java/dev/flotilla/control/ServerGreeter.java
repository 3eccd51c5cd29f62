package dev.flotilla.control;

import java.io.IOException;
import java.util.Optional;
import java.util.function.IntSupplier;

/** The end that listens: sends a challenge, checks the answer, and proves the key in turn. */
final class ServerGreeter implements Connection.Greeter {

  private final JobKey key;
  private final boolean forHosts;
  private final IntSupplier generation;
  private final Frame.Challenge challenge = new Frame.Challenge(Bits256.random());

  /**
   * Creates a greeter for one connection.
   *
   * @param forHosts whether launchers of other hosts connect here, or ranks
   * @param generation the attempt that ranks must belong to
   */
  ServerGreeter(JobKey key, boolean forHosts, IntSupplier generation) {
    this.key = key;
    this.forHosts = forHosts;
    this.generation = generation;
  }

  @Override
  public void start(Wire wire) throws IOException {
    wire.send(challenge);
  }

  @Override
  public Optional<Peer> take(Frame frame, Wire wire) throws IOException {
    if (!(frame instanceof Frame.Hello hello)) {
      throw new FrameException("a stranger must say who it is first");
    }
    if (!Greeting.isProved(key, challenge, hello)) {
      throw refusal(wire, "wrong job key");
    }
    if (hello.isHost() != forHosts) {
      throw refusal(wire, "wrong place to connect to");
    }
    if (!forHosts && hello.generation() != generation.getAsInt()) {
      throw refusal(wire, "this rank belongs to an earlier attempt");
    }
    wire.send(Greeting.welcome(key, challenge, hello));
    return Optional.of(Identity.of(hello).peer());
  }

  private static IOException refusal(Wire wire, String reason) throws IOException {
    wire.send(new Frame.Refused(reason));
    return new FrameException(reason);
  }
}
