package dev.flotilla.control;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Listens to the signals that ask a process to stop: SIGTERM and SIGUSR1.
 *
 * <p>The JDK's signals have no official interface. Its inofficial one is reached by reflection, as
 * the compiler lets nobody name it without a warning; where it is missing or was switched off
 * (-Xrs), nothing is listened to.
 */
public final class ProcessSignals implements AutoCloseable {

  private static final String[] NAMES = {"TERM", "USR1"};

  private final Map<String, Object> before = new LinkedHashMap<>();

  private ProcessSignals() {}

  /** Starts to listen; names are given with "SIG" before them. */
  public static ProcessSignals listen(Consumer<String> listener) {
    var signals = new ProcessSignals();
    for (String name : NAMES) {
      signals.take(name, listener);
    }
    return signals;
  }

  private void take(String name, Consumer<String> listener) {
    Consumer<Object> handler = _ -> listener.accept("SIG" + name);
    try {
      MethodHandle handle =
          MethodHandles.lookup()
              .findVirtual(
                  Consumer.class, "accept", MethodType.methodType(void.class, Object.class))
              .bindTo(handler);
      Class<?> type = Class.forName("sun.misc.SignalHandler");
      before.put(name, install(name, MethodHandleProxies.asInterfaceInstance(type, handle)));
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      // The signal keeps the meaning it had, which is to end the process.
      return;
    }
  }

  private static Object install(String name, Object handler) throws ReflectiveOperationException {
    Class<?> signalType = Class.forName("sun.misc.Signal");
    Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
    Object signal = signalType.getConstructor(String.class).newInstance(name);
    return signalType.getMethod("handle", signalType, handlerType).invoke(null, signal, handler);
  }

  /** Gives the signals back their earlier meaning. */
  @Override
  public void close() {
    before.forEach(
        (name, handler) -> {
          try {
            Object _ = install(name, handler);
          } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("a signal that was taken can be given back", e);
          }
        });
    before.clear();
  }

  /** Gives the signals back their earlier meaning and sends one to this process. */
  public void yieldTo(String signal) {
    close();
    try {
      Class<?> type = Class.forName("sun.misc.Signal");
      Object named =
          type.getConstructor(String.class).newInstance(signal.substring("SIG".length()));
      type.getMethod("raise", type).invoke(null, named);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("a signal that was taken can be sent", e);
    }
  }
}
