package dev.flotilla.control;

import java.time.Duration;
import java.util.Optional;

/** Stands for the launcher of a process that is its own only rank: decides at once. */
record LocalChannel(StopGate gate) implements RankChannel {

  @Override
  public void stopAsked(String signal) {
    long begun = gate.request();
    gate.decide(begun == RankPlace.NONE ? RankPlace.NONE : begun + 1);
  }

  @Override
  public boolean isConnected() {
    return false;
  }

  @Override
  public Optional<String> culprit(Duration longest) {
    return Optional.empty();
  }
}
