package dev.flotilla.memory;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the last tensors of those that it is given in a round, up to so many bytes. What the rounds
 * before tell not to be among them is not kept to begin with; where they are wrong, the oldest ones
 * are let go for each new one.
 *
 * <p>Not thread-safe.
 */
public final class TensorWindow {

  private final long most;
  private final Deque<Place> places = new ArrayDeque<>();
  private long bytes;
  private long given;
  private long givenInLast;
  private boolean isUsed;

  /**
   * Creates an empty one.
   *
   * @param most bytes of all that it keeps at a time
   */
  public TensorWindow(long most) {
    this.most = most;
  }

  /** Begins a round. */
  public void begin() {
    givenInLast = given;
    given = 0;
  }

  /** Keeps a tensor by a handle of its own, if it is among the last. */
  public Place keep(Tensor tensor) {
    boolean isAmongLast = givenInLast - given <= most;
    var place = new Place(tensor, isAmongLast);
    given += place.size;
    if (!isAmongLast) {
      return place;
    }
    places.addLast(place);
    bytes += place.size;
    while (bytes > most) {
      places.getFirst().close();
    }
    return place;
  }

  /** Tells whether a tensor was ever asked back that was still there. */
  public boolean isUsed() {
    return isUsed;
  }

  /** Where a tensor is kept, until it is taken or too old. */
  public final class Place implements AutoCloseable {

    private final long size;
    private @Nullable Tensor tensor;

    private Place(Tensor given, boolean isKept) {
      size = given.numel() * given.element_size();
      tensor = isKept ? TensorScope.keep(new Tensor(given)) : null;
    }

    /** Hands the tensor to the innermost scope; nothing if it is gone. */
    public Optional<Tensor> take() {
      var taken = tensor;
      if (taken == null) {
        return Optional.empty();
      }
      leave();
      isUsed = true;
      return Optional.of(TensorScope.adopt(taken));
    }

    private void leave() {
      tensor = null;
      places.removeLastOccurrence(this);
      bytes -= size;
    }

    /** Lets the tensor go, if it is there. */
    @Override
    public void close() {
      var kept = tensor;
      if (kept != null) {
        leave();
        TensorScope.free(kept);
      }
    }
  }
}
