package dev.flotilla.memory;

import java.util.ArrayList;
import java.util.List;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerScope;
import org.jspecify.annotations.Nullable;

/**
 * Owns the native objects that a thread creates while the scope is open, and frees them at its end.
 *
 * <p>Scopes nest; the innermost open scope of a thread owns what is created. What the enclosing
 * scope needs is passed up with {@link #handOut}; what an object owns for longer is {@link #keep
 * kept} and {@link #free freed} by that object.
 *
 * <p>A scope belongs to one thread; another thread sees none of it and opens its own.
 */
public final class TensorScope implements AutoCloseable {

  private final @Nullable PointerScope outer = PointerScope.getInnerScope();
  private final PointerScope scope = new PointerScope();
  private final List<Pointer> handedOut = new ArrayList<>(2);

  private TensorScope() {}

  /** Opens a scope on this thread. */
  public static TensorScope open() {
    return new TensorScope();
  }

  /** Passes an object to the enclosing scope when this one closes; without one, to the caller. */
  public <P extends Pointer> P handOut(P object) {
    object.retainReference();
    handedOut.add(object);
    return object;
  }

  /** Leaves a new object to the innermost scope; without one, to the caller to {@link #free}. */
  static <P extends Pointer> P made(P object) {
    if (PointerScope.getInnerScope() == null) {
      object.retainReference();
    }
    return object;
  }

  /** Frees everything that was created since the scope was opened and not handed out. */
  @Override
  public void close() {
    scope.close();
    if (outer == null) {
      return;
    }
    for (var object : handedOut) {
      outer.attach(object);
      object.releaseReference();
    }
  }

  /**
   * Takes an object that another thread has handed out into the innermost scope of this thread;
   * without one, it is the caller's to {@link #free}.
   */
  public static <P extends Pointer> P adopt(P object) {
    var inner = PointerScope.getInnerScope();
    if (inner != null) {
      inner.attach(object);
      object.releaseReference();
    }
    return object;
  }

  /** Takes an object out of all scopes; the caller must {@link #free} it. */
  public static <P extends Pointer> P keep(P object) {
    object.retainReference();
    return object;
  }

  /** Frees an object that was kept; does nothing for null. */
  public static void free(@Nullable Pointer object) {
    if (object != null && !object.isNull()) {
      object.releaseReference();
    }
  }
}
