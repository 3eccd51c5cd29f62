package dev.flotilla.train;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import dev.flotilla.state.Stateful;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.bytedeco.pytorch.Tensor;

/** A copy in memory of what this rank remembers, which can be put back. */
final class StateCopy implements RunState, AutoCloseable {

  private final Part weights = new Part();
  private final Part movingAverage = new Part();
  private final Part shared = new Part();
  private final Part own = new Part();
  private final Part summed = new Part();
  private boolean isSaving = true;

  /** Copies; all ranks call it together. */
  StateCopy(List<Stateful> parts) {
    parts.forEach(part -> part.remember(this));
    isSaving = false;
  }

  /** Puts everything back; all ranks call it together. */
  void putBack(List<Stateful> parts) {
    parts.forEach(part -> part.remember(this));
  }

  @Override
  public boolean isSaving() {
    return isSaving;
  }

  @Override
  public State weights() {
    return weights;
  }

  @Override
  public State movingAverage() {
    return movingAverage;
  }

  @Override
  public State shared() {
    return shared;
  }

  @Override
  public State sliced() {
    return shared;
  }

  @Override
  public State own() {
    return own;
  }

  @Override
  public State leader() {
    return own;
  }

  @Override
  public List<State> dealt() {
    return List.of(own);
  }

  @Override
  public State summed() {
    return summed;
  }

  @Override
  public void close() {
    List.of(weights, movingAverage, shared, own, summed)
        .forEach(part -> part.tensors.values().forEach(TensorScope::free));
  }

  private final class Part implements State {

    private final Map<String, Tensor> tensors = new HashMap<>();
    private final Map<String, Object> values = new HashMap<>();

    @Override
    public void tensor(String name, Tensor live) {
      try (var _ = TensorScope.open()) {
        if (isSaving) {
          tensors.put(name, TensorScope.keep(live.detach().clone()));
        } else {
          live.detach().copy_(known(tensors, name));
        }
      }
    }

    /** Of an empty slice there is nothing to copy, and its offset may be another one's too. */
    @Override
    public void slice(String name, long offset, Tensor live) {
      if (live.numel() > 0) {
        tensor(name + "@" + offset, live);
      }
    }

    @Override
    public boolean has(String name) {
      return isSaving || values.containsKey(name) || tensors.containsKey(name);
    }

    @Override
    public long number(String name, long value) {
      return (Long) remembered(name, value);
    }

    @Override
    public double real(String name, double value) {
      return (Double) remembered(name, value);
    }

    @Override
    public String text(String name, String value) {
      return (String) remembered(name, value);
    }

    private Object remembered(String name, Object value) {
      if (isSaving) {
        values.put(name, value);
      }
      return known(values, name);
    }

    private static <T> T known(Map<String, T> all, String name) {
      T value = all.get(name);
      if (value == null) {
        throw new IllegalStateException("nothing was remembered as " + name);
      }
      return value;
    }
  }
}
