package dev.flotilla.control;

/** What happens on a launcher's control channel. */
public sealed interface HubEvent {

  /**
   * Somebody who knows the key has connected.
   *
   * @param peer who
   */
  record Joined(Peer peer) implements HubEvent {}

  /**
   * A connection has ended.
   *
   * @param peer whose
   */
  record Left(Peer peer) implements HubEvent {}

  /**
   * A frame has come.
   *
   * @param peer from whom
   * @param frame what
   */
  record Came(Peer peer, Frame frame) implements HubEvent {}

  /**
   * The first host's launcher does not take this one. Whoever answers there may have said so.
   *
   * @param reason why
   */
  record Refused(String reason) implements HubEvent {}

  /**
   * Something that people should know.
   *
   * @param message what
   */
  record Warning(String message) implements HubEvent {}
}
