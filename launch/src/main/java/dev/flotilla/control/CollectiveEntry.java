package dev.flotilla.control;

/**
 * One collective of a rank.
 *
 * @param sequence its number on this rank, from 1
 * @param operation for example "all-reduce"
 * @param tensorType type of the tensor's elements
 * @param bytes size of this rank's tensor
 * @param update updates made before it
 * @param microStep micro-step it belongs to
 * @param startNanos when it was started, by the host's monotonic clock
 * @param endNanos when it was done on this rank; 0 while it is not
 */
public record CollectiveEntry(
    long sequence,
    String operation,
    String tensorType,
    long bytes,
    long update,
    long microStep,
    long startNanos,
    long endNanos) {

  /** Tells whether the rank is still inside. */
  public boolean isOpen() {
    return endNanos == 0;
  }

  /** Tells whether two ranks did the same here. */
  boolean isLike(CollectiveEntry other) {
    return operation.equals(other.operation)
        && tensorType.equals(other.tensorType)
        && bytes == other.bytes;
  }

  /** Returns "all-reduce of 4096 bytes (float)". */
  String what() {
    return "%s of %d bytes (%s)".formatted(operation, bytes, tensorType);
  }

  /** Returns one line of JSON. */
  String json() {
    return ("{\"seq\":%d,\"op\":\"%s\",\"type\":\"%s\",\"bytes\":%d,\"update\":%d,"
            + "\"micro_step\":%d,\"start_ns\":%d,\"end_ns\":%s,\"state\":\"%s\"}")
        .formatted(
            sequence,
            plain(operation),
            plain(tensorType),
            bytes,
            update,
            microStep,
            startNanos,
            isOpen() ? "null" : Long.toString(endNanos),
            isOpen() ? "started" : "done");
  }

  private static String plain(String name) {
    return name.replaceAll("[^A-Za-z0-9 _.:-]", "?");
  }
}
