package dev.flotilla.control;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The end that connects: answers the challenge and checks the other end's proof. */
final class ClientGreeter implements Connection.Greeter {

  /** Whoever listens is a rank's launcher, or that of the first host. */
  private static final Identity LISTENER = new Identity(true, 0, 0, 0);

  private final JobKey key;
  private final Identity self;
  private Frame.@Nullable Challenge challenge;
  private Frame.@Nullable Hello hello;

  /** Creates a greeter for one connection. */
  ClientGreeter(JobKey key, Identity self) {
    this.key = key;
    this.self = self;
  }

  @Override
  public void start(Wire wire) {}

  @Override
  public Optional<Identity> take(Frame frame, Wire wire) throws IOException {
    return switch (frame) {
      case Frame.Challenge it when challenge == null -> {
        challenge = it;
        hello = Greeting.hello(key, it, self);
        wire.send(hello);
        yield Optional.empty();
      }
      case Frame.Welcome welcome when isProved(welcome) -> Optional.of(LISTENER);
      case Frame.Refused(String reason) -> throw new RefusedException(reason);
      default -> throw new RefusedException("the other end does not know the job key");
    };
  }

  @Override
  public Seal.Pair seals() {
    return Greeting.seals(key, requireNonNull(challenge), requireNonNull(hello), false);
  }

  private boolean isProved(Frame.Welcome welcome) {
    return challenge != null && hello != null && Greeting.isProved(key, challenge, hello, welcome);
  }
}
