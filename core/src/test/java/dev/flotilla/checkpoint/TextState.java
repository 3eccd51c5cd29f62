package dev.flotilla.checkpoint;

import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;

/** A state that needs no libtorch: texts that name position and rank in every part. */
final class TextState implements Stateful {

  private final int length;
  private String weights;
  private String shared;
  private String own;

  private TextState(String position, int rank, int length) {
    this.length = length;
    weights = filled("weights of " + position);
    shared = filled("shared of " + position);
    own = filled("own of " + position + " rank " + rank);
  }

  static TextState at(Position position, int rank) {
    return new TextState(position.folderName(), rank, 700);
  }

  static TextState at(Position position, int rank, int length) {
    return new TextState(position.folderName(), rank, length);
  }

  static TextState empty() {
    return new TextState("nowhere", 0, 0);
  }

  private String filled(String text) {
    return text + " " + "x".repeat(length);
  }

  @Override
  public void remember(RunState state) {
    weights = state.weights().text("weights", weights);
    shared = state.shared().text("shared", shared);
    own = state.own().text("own", own);
  }

  /** Tells whether all parts are those of one position and rank. */
  boolean isOf(Position position, int rank) {
    var name = position.folderName();
    return weights.startsWith("weights of " + name + " ")
        && shared.startsWith("shared of " + name + " ")
        && own.startsWith("own of " + name + " rank " + rank + " ");
  }
}
