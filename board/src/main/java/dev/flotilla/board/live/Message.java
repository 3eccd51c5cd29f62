package dev.flotilla.board.live;

/** Something to tell those who watch; another version means another content. */
final class Message {

  private final String version;
  private final byte[] body;

  Message(String version, byte[] body) {
    this.version = version;
    this.body = body;
  }

  String version() {
    return version;
  }

  /** The bytes themselves, which all who watch share; nobody changes them. */
  byte[] body() {
    return body;
  }
}
