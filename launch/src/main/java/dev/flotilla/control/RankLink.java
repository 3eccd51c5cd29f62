package dev.flotilla.control;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The link of a rank: notes where it is in its trace, and lets its gate decide where it stops. */
final class RankLink implements JobLink {

  private final Trace trace;
  private final FlightRecorder collectives;
  private final StopGate gate;
  private final RankChannel channel;
  private final AtomicReference<@Nullable ProcessSignals> signals = new AtomicReference<>();
  private final AtomicBoolean signalled = new AtomicBoolean();
  private boolean isOutside = true;
  private volatile boolean stops;
  private volatile boolean hasTrained;

  RankLink(Trace trace, StopGate gate, RankChannel channel) {
    this.trace = trace;
    this.collectives = new FlightRecorder(trace, new NameTable(trace));
    this.gate = gate;
    this.channel = channel;
  }

  @Override
  public void begin(long microStep, long updates) {
    if (isOutside) {
      enter();
    }
    trace.set(Trace.UPDATES, updates);
    trace.set(Trace.MICRO_STEP, microStep);
    trace.set(Trace.BEGUN_AT, System.nanoTime() | 1);
    gate.begin(microStep);
  }

  private void enter() {
    isOutside = false;
    trace.activity("");
    offerToStop();
  }

  /** Until training begins, a signal ends the process as it always does. */
  private void offerToStop() {
    if (!stops) {
      stops = true;
      signals.set(ProcessSignals.listen(this::signalled));
    }
  }

  private void signalled(String name) {
    if (signalled.compareAndSet(false, true)) {
      channel.stopAsked(name);
    } else {
      leave(name);
    }
  }

  private void leave(String signal) {
    ProcessSignals taken = signals.getAndSet(null);
    if (taken != null) {
      taken.yieldTo(signal);
    }
  }

  /** From now on SIGTERM ends this process at once; one that has come already does so now. */
  void letGo() {
    if (signalled.get()) {
      leave("SIGTERM");
    }
    ProcessSignals taken = signals.getAndSet(null);
    if (taken != null) {
      taken.close();
    }
  }

  /** Tells whether this process can stop after a micro-step. */
  boolean stops() {
    return stops;
  }

  /** Tells whether a training has ended, so that the process is about to end by itself. */
  boolean hasTrained() {
    return hasTrained;
  }

  /** Tells whether the launcher listens. */
  boolean isConnected() {
    return channel.isConnected();
  }

  @Override
  public boolean stopsAfter(long microStep) {
    return gate.stopsAfter(microStep);
  }

  @Override
  public boolean isStopDecided() {
    return gate.isDecided();
  }

  @Override
  public void doing(String activity) {
    isOutside = true;
    trace.activity(activity);
    offerToStop();
  }

  @Override
  public void preparing(String activity) {
    trace.activity(activity);
  }

  @Override
  public FlightRecorder collectives() {
    return collectives;
  }

  @Override
  public Optional<String> culprit(Duration longest) {
    return channel.culprit(longest);
  }

  @Override
  public Optional<SharedValues> values() {
    return channel.values();
  }

  @Override
  public Optional<JobKey> pairKey() {
    return channel.pairKey();
  }

  /** Ends the training, not the process: heartbeats go on, and another training may follow. */
  @Override
  public void close() {
    hasTrained |= stops;
    stops = false;
    isOutside = true;
    signalled.set(false);
    gate.reset();
    trace.activity("");
    ProcessSignals taken = signals.getAndSet(null);
    if (taken != null) {
      taken.close();
    }
  }
}
