package dev.flotilla.control;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.Optional;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The end that listens: sends a challenge, checks the answer, and proves the key in turn. */
final class ServerGreeter implements Connection.Greeter {

  private final JobKey key;
  private final boolean forHosts;
  private final IntSupplier generation;
  private final Predicate<Identity> isTaken;
  private final Frame.Challenge challenge = new Frame.Challenge(Bits256.random());
  private Frame.@Nullable Hello proved;

  /**
   * Creates a greeter for one connection.
   *
   * @param forHosts whether launchers of other hosts connect here, or ranks
   * @param generation the attempt that ranks must belong to
   * @param isTaken tells whether somebody else is connected as this one
   */
  ServerGreeter(JobKey key, boolean forHosts, IntSupplier generation, Predicate<Identity> isTaken) {
    this.key = key;
    this.forHosts = forHosts;
    this.generation = generation;
    this.isTaken = isTaken;
  }

  @Override
  public void start(Wire wire) throws IOException {
    wire.send(challenge);
  }

  @Override
  public Optional<Identity> take(Frame frame, Wire wire) throws IOException {
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
    Identity newcomer = Identity.of(hello);
    if (isTaken.test(newcomer)) {
      throw refusal(
          wire,
          forHosts
              ? "another launcher is connected as host %d; give each host a --node-rank of its own"
                  .formatted(newcomer.number())
              : "rank %d is connected already".formatted(newcomer.number()));
    }
    wire.send(Greeting.welcome(key, challenge, hello));
    proved = hello;
    return Optional.of(newcomer);
  }

  @Override
  public Seal.Pair seals() {
    return Greeting.seals(key, challenge, requireNonNull(proved), true);
  }

  private static IOException refusal(Wire wire, String reason) throws IOException {
    wire.send(new Frame.Refused(reason));
    return new FrameException(reason);
  }
}
