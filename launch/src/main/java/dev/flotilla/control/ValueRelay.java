package dev.flotilla.control;

import java.util.function.Predicate;

/**
 * Carries the values that ranks leave for each other: the first host's launcher keeps them all, and
 * the others pass on what their ranks put and ask.
 *
 * <p>All its methods run on the hub's thread, but for {@link #follow} and {@link #watch}.
 */
final class ValueRelay {

  /** Sends to peers that are connected. */
  interface Sender {

    /** Sends a frame in the name of an attempt to all peers of a kind. */
    void send(Predicate<Peer> whom, Frame frame, int attempt);
  }

  private final KeptValues values = new KeptValues();
  private final OpenQuestions questions = new OpenQuestions();
  private final Sender sender;
  private volatile boolean followsAnother;
  private volatile ValueWatcher watcher = (_, _, _) -> {};

  ValueRelay(Sender sender) {
    this.sender = sender;
  }

  /** Passes on to the first host's launcher from now on, instead of keeping. */
  void follow() {
    followsAnother = true;
  }

  void watch(ValueWatcher newcomer) {
    watcher = newcomer;
  }

  /** Takes a value of this launcher itself. */
  void put(int attempt, Frame.Put put, int current) {
    if (attempt < current) {
      return;
    }
    if (followsAnother) {
      promise(attempt, put);
    } else {
      keep(attempt, new Frame.Value(put.key(), put.value()), current);
    }
  }

  void forgetBefore(int attempt) {
    values.forgetBefore(attempt);
    questions.forgetBefore(attempt);
  }

  /**
   * Takes a frame that is about values.
   *
   * @param attempt in whose name it came
   * @param current the attempt that runs
   * @return whether the frame is about values
   */
  boolean take(Identity from, Frame frame, int attempt, int current) throws FrameException {
    switch (frame) {
      case Frame.Put put when followsAnother && !from.isHost() -> promise(attempt, put);
      case Frame.Put(var key, var value) when !followsAnother ->
          keep(attempt, new Frame.Value(key, value), current);
      case Frame.Value value when followsAnother && from.isHost() -> keep(attempt, value, current);
      case Frame.Sync(long number) when followsAnother && !from.isHost() ->
          passOn(new OpenQuestions.Question(from.peer(), number, attempt));
      case Frame.Sync(long number) when !followsAnother ->
          sender.send(from.peer()::equals, new Frame.Synced(number), attempt);
      case Frame.Synced(long number) when followsAnother && from.isHost() ->
          questions
              .answered(number)
              .filter(question -> question.attempt() == current)
              .ifPresent(this::answer);
      case Frame.Put _, Frame.Value _, Frame.Sync _, Frame.Synced _ ->
          throw new FrameException("a value comes from where none is kept");
      default -> {
        return false;
      }
    }
    return true;
  }

  private void passOn(OpenQuestions.Question question) {
    var sync = new Frame.Sync(questions.add(question));
    sender.send(Peer.Host.class::isInstance, sync, question.attempt());
  }

  /** What was kept before the question has been passed to the rank before this. */
  private void answer(OpenQuestions.Question question) {
    sender.send(question.peer()::equals, new Frame.Synced(question.number()), question.attempt());
  }

  private void promise(int attempt, Frame.Put put) {
    values.promise(attempt, put);
    sender.send(Peer.Host.class::isInstance, put, attempt);
  }

  private void keep(int attempt, Frame.Value value, int current) {
    values.keep(attempt, value);
    var bytes = new byte[value.value().remaining()];
    value.value().duplicate().get(bytes);
    watcher.take(attempt, value.key(), bytes);
    if (!followsAnother) {
      sender.send(Peer.Host.class::isInstance, value, attempt);
    }
    if (attempt == current) {
      sender.send(Peer.Rank.class::isInstance, value, attempt);
    }
  }

  /** Tells a newcomer what it must know, or what it must be told again. */
  void catchUp(Identity newcomer) {
    Predicate<Peer> it = newcomer.peer()::equals;
    if (!newcomer.isHost()) {
      int attempt = newcomer.generation();
      values.of(attempt).forEach(value -> sender.send(it, value, attempt));
    } else if (followsAnother) {
      values
          .unconfirmed()
          .forEach((attempt, puts) -> puts.forEach(put -> sender.send(it, put, attempt)));
      questions
          .all()
          .forEach((number, asked) -> sender.send(it, new Frame.Sync(number), asked.attempt()));
    } else {
      for (int attempt : values.attempts()) {
        values.of(attempt).forEach(value -> sender.send(it, value, attempt));
      }
    }
  }
}
