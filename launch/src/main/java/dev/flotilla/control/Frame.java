package dev.flotilla.control;

import java.nio.ByteBuffer;
import java.util.List;

/** What crosses the control channel; nothing else does. */
public sealed interface Frame {

  /**
   * First word of whoever listens.
   *
   * @param nonce number that the answer must contain
   */
  record Challenge(Bits256 nonce) implements Frame {}

  /**
   * Answer of whoever connects.
   *
   * @param isHost whether it is the launcher of another host rather than a rank
   * @param number rank or number of the host
   * @param instance what tells it from another that claims the same number
   * @param generation how often the job was restarted before
   * @param nonce number that the welcome must contain
   * @param proof proof of the key
   */
  record Hello(
      boolean isHost, int number, long instance, int generation, Bits256 nonce, Bits256 proof)
      implements Frame {}

  /**
   * The other side's proof.
   *
   * @param proof proof of the key
   */
  record Welcome(Bits256 proof) implements Frame {}

  /**
   * Last word to somebody who is not let in.
   *
   * @param reason why
   */
  record Refused(String reason) implements Frame {}

  /** A rank or launcher lives. */
  record Beat() implements Frame {}

  /**
   * A process was asked to stop.
   *
   * @param signal name of the signal
   */
  record StopAsked(String signal) implements Frame {}

  /** All ranks shall say where they are, and go no further than the next micro-step. */
  record StopRequest() implements Frame {}

  /**
   * Where a rank, or the furthest rank of a host, is.
   *
   * @param microStep its micro-step, or {@link RankPlace#NONE}
   * @param stops whether it can stop after a micro-step
   */
  record Position(long microStep, boolean stops) implements Frame {}

  /**
   * The micro-step after which all ranks stop.
   *
   * @param microStep its number, or {@link RankPlace#NONE} for the first that is begun
   */
  record StopDecision(long microStep) implements Frame {}

  /** A rank shall end at once when SIGTERM comes, or has come. */
  record Leave() implements Frame {}

  /**
   * A rank failed.
   *
   * @param failure which, and why
   */
  record Notice(FailureNotice failure) implements Frame {}

  /** A rank has written the notice to its log. */
  record Noted() implements Frame {}

  /**
   * A rank shall write its threads' stacks.
   *
   * @param folder where to
   */
  record Dump(String folder) implements Frame {}

  /** A rank has done so. */
  record Dumped() implements Frame {}

  /**
   * Where the ranks of a host are.
   *
   * @param places one for each rank
   */
  record HostState(List<RankPlace> places) implements Frame {
    /** Copies the list. */
    public HostState {
      places = List.copyOf(places);
    }
  }

  /**
   * The ranks of a host have ended after a failure.
   *
   * @param generation which attempt ended
   */
  record HostEnded(int generation) implements Frame {}

  /**
   * What follows a failure.
   *
   * @param generation attempt that is to come; negative when there will be none
   * @param delayMillis when to start it
   * @param reason what is said about it
   */
  record NextAttempt(int generation, long delayMillis, String reason) implements Frame {}

  /**
   * A rank leaves a value for the others; the first host's launcher keeps it.
   *
   * @param key its name
   * @param value its bytes
   */
  record Put(String key, ByteBuffer value) implements Frame {
    /** Lets nobody change the value. */
    public Put {
      value = value.asReadOnlyBuffer();
    }
  }

  /**
   * A value that the first host's launcher keeps.
   *
   * @param key its name
   * @param value its bytes
   */
  record Value(String key, ByteBuffer value) implements Frame {
    /** Lets nobody change the value. */
    public Value {
      value = value.asReadOnlyBuffer();
    }
  }

  /**
   * Asks whether every value has come that was kept before.
   *
   * @param number what the answer repeats
   */
  record Sync(long number) implements Frame {}

  /**
   * Every value has come that was kept before the question.
   *
   * @param number that of the question
   */
  record Synced(long number) implements Frame {}
}
