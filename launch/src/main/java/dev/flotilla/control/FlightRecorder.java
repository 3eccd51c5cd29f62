package dev.flotilla.control;

/**
 * A ring of the last 1,000 collectives of a rank, written without allocating.
 *
 * <p>A reader, also one in another process, may come at any time: an entry that is just being
 * written is left out.
 */
public final class FlightRecorder {

  static final int SEQUENCE = 0;
  static final int OPERATION = 1;
  static final int TENSOR_TYPE = 2;
  static final int BYTES = 3;
  static final int UPDATE = 4;
  static final int MICRO_STEP = 5;
  static final int START = 6;
  static final int END = 7;

  private final Trace trace;
  private final NameTable names;
  private long started;
  private long finished;

  FlightRecorder(Trace trace, NameTable names) {
    this.trace = trace;
    this.names = names;
  }

  /** Returns a recorder that only this process can read. */
  public static FlightRecorder inMemory() {
    Trace trace = Trace.inMemory();
    return new FlightRecorder(trace, new NameTable(trace));
  }

  /**
   * Notes that a collective is about to start.
   *
   * @param operation for example "all-reduce"
   * @param bytes size of this rank's tensor
   * @param tensorType type of its elements
   * @return what {@link #finished} wants to know
   */
  public synchronized int starting(String operation, long bytes, String tensorType) {
    long sequence = started + 1;
    int slot = (int) (started % Trace.ENTRIES);
    trace.set(slot, SEQUENCE, 0);
    trace.set(slot, OPERATION, names.number(operation));
    trace.set(slot, TENSOR_TYPE, names.number(tensorType));
    trace.set(slot, BYTES, bytes);
    trace.set(slot, UPDATE, trace.get(Trace.UPDATES));
    trace.set(slot, MICRO_STEP, trace.get(Trace.MICRO_STEP));
    trace.set(slot, START, System.nanoTime());
    trace.set(slot, END, 0);
    trace.set(slot, SEQUENCE, sequence);
    started = sequence;
    trace.set(Trace.STARTED, sequence);
    return slot;
  }

  /** Notes that a collective is done on this rank; one that failed is never noted so. */
  public synchronized void finished(int ticket) {
    // Zero stands for "not yet", and nanoTime may be zero.
    trace.set(ticket, END, System.nanoTime() | 1);
    finished++;
    trace.set(Trace.FINISHED, finished);
  }
}
