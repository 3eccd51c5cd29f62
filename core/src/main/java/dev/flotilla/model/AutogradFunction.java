package dev.flotilla.model;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Edge;
import org.bytedeco.pytorch.FunctionPostHook;
import org.bytedeco.pytorch.FunctionPreHook;
import org.bytedeco.pytorch.GradMode;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Node;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;

/**
 * A function with a backward of its own in libtorch's graph: what PyTorch calls an
 * autograd.Function.
 *
 * <p>The binding has no class for it. So a node of another function is taken, a concatenation, and
 * led to the inputs; a hook before it takes the gradients away, whereupon it computes nothing, and
 * a hook after it gives those of the inputs instead.
 */
public final class AutogradFunction {

  /** Computes gradients. */
  @FunctionalInterface
  public interface Backward {

    /**
     * Returns the gradient of each input, in its shape and dtype; undefined for one that needs
     * none. Runs in a scope and without a graph, on the thread of backward.
     *
     * @param gradients of the outputs, undefined where none came
     */
    List<Tensor> apply(List<Tensor> gradients);
  }

  /** By the number of inputs: leaves whose concatenation has a node with as many edges. */
  private static final Map<Integer, TensorVector> LEAVES = new ConcurrentHashMap<>();

  private static final ThreadLocal<Recorded> RECORDED = ThreadLocal.withInitial(Recorded::new);

  private static volatile boolean areLeavesWatched;

  private final Backward backward;
  private final List<Tensor> saved;
  private final List<Tensor> leaves;
  private final int[] edges;
  private final Recorded recorded;
  private List<Tensor> gradients = List.of();
  // A hook that Java has collected ends backward; nothing else holds them here.
  private final FunctionPreHook taking = new Taking();
  private final FunctionPostHook giving = new Giving();
  private boolean isOver;

  /** What a thread has recorded. */
  private static final class Recorded {

    /** Those that no backward has reached. */
    private final Set<AutogradFunction> functions = new LinkedHashSet<>();

    /**
     * What a hook has returned is read after it has ended: the next one on its thread, or the end
     * of backward, frees it.
     */
    private final Map<Thread, TensorVector> returned = new ConcurrentHashMap<>();

    synchronized void add(AutogradFunction function) {
      functions.add(function);
    }

    synchronized void remove(AutogradFunction function) {
      functions.remove(function);
    }

    synchronized Set<AutogradFunction> all() {
      return Set.copyOf(functions);
    }

    TensorVector returned(TensorVector result) {
      TensorScope.free(returned.put(Thread.currentThread(), TensorScope.keep(result)));
      return result;
    }

    void freeReturned() {
      returned.values().forEach(TensorScope::free);
      returned.clear();
    }
  }

  private AutogradFunction(
      List<Tensor> inputs, List<Tensor> saved, Backward backward, Recorded recorded) {
    this.saved = saved.stream().map(TensorScope::keep).toList();
    this.leaves = inputs.stream().map(AutogradFunction::leaf).toList();
    this.edges = edges(inputs, leaves);
    this.backward = backward;
    this.recorded = recorded;
  }

  /**
   * Makes outputs, which were computed without a graph, functions of inputs.
   *
   * @param saved what backward needs besides its gradients; kept until it has run
   */
  public static void record(
      List<Tensor> inputs, List<Tensor> outputs, List<Tensor> saved, Backward backward) {
    if (!GradMode.is_enabled() || inputs.stream().noneMatch(Tensor::requires_grad)) {
      return;
    }
    var recorded = RECORDED.get();
    var function = new AutogradFunction(inputs, saved, backward, recorded);
    recorded.add(function);
    try (var _ = TensorScope.open()) {
      int edges = Math.max(1, function.edges.length);
      Tensor joined = torch.cat(LEAVES.computeIfAbsent(edges, AutogradFunction::leaves));
      Node node = joined.grad_fn();
      node.clear_input_metadata();
      node.set_next_edge(0, new Edge());
      for (int i = 0; i < function.edges.length; i++) {
        node.set_next_edge(i, edge(inputs.get(function.edges[i])));
      }
      node.add_pre_hook(function.taking);
      node.add_post_hook(function.giving);
      outputs.forEach(output -> torch.create_gradient_edge(output, node));
    }
  }

  /**
   * Lets the graph go through parameters, for hooks behind the nodes that add their gradients;
   * holds from now on, as who waits once may wait again. Otherwise that is left out, which takes
   * time for each.
   */
  public static void watchLeaves() {
    areLeavesWatched = true;
  }

  /** Tells whether somebody waits behind the nodes that add gradients of parameters. */
  public static boolean watchesLeaves() {
    return areLeavesWatched;
  }

  /** Returns a handle of a parameter of our own; an undefined tensor for what is none. */
  private static Tensor leaf(Tensor input) {
    boolean isLeaf = input.requires_grad() && input.is_leaf();
    return TensorScope.keep(isLeaf ? new Tensor(input) : new Tensor());
  }

  /** Any function of a parameter leads to where its gradient goes. */
  private static Edge edge(Tensor input) {
    return input.is_leaf()
        ? input.view_as(input).grad_fn().next_edge(0)
        : new Edge(input.grad_fn(), Math.toIntExact(input.output_nr()));
  }

  /** Inputs whose gradients the graph has to pass on, or to tell of. */
  private static int[] edges(List<Tensor> inputs, List<Tensor> leaves) {
    return IntStream.range(0, inputs.size())
        .filter(i -> inputs.get(i).requires_grad())
        .filter(i -> areLeavesWatched || !leaves.get(i).defined())
        .toArray();
  }

  private static TensorVector leaves(int count) {
    try (var _ = TensorScope.open()) {
      return TensorScope.keep(
          new TensorVector(
              IntStream.range(0, count)
                  .mapToObj(_ -> Tensors.ofFloats(0).set_requires_grad(true))
                  .toArray(Tensor[]::new)));
    }
  }

  /** Frees what this thread's functions have saved whose graphs were given up. */
  public static void abandon() {
    backwardEnded();
    endAllBut(Set.of());
  }

  /**
   * Says that a backward which this thread has started is over: the gradients that its last
   * function has given are freed at once, and not when the next backward begins.
   */
  public static void backwardEnded() {
    RECORDED.get().freeReturned();
  }

  /** Says that graphs of this thread which begin before it is closed are given up then. */
  public static Dropped dropped() {
    var before = RECORDED.get().all();
    return () -> endAllBut(before);
  }

  /** A block of code whose graphs nobody runs backward after it. */
  @FunctionalInterface
  public interface Dropped extends AutoCloseable {
    @Override
    void close();
  }

  private static void endAllBut(Set<AutogradFunction> others) {
    RECORDED.get().all().stream()
        .filter(function -> !others.contains(function))
        .forEach(AutogradFunction::end);
  }

  private void end() {
    isOver = true;
    recorded.remove(this);
    saved.forEach(TensorScope::free);
    leaves.forEach(TensorScope::free);
    gradients.forEach(TensorScope::free);
  }

  /**
   * Adds the gradient of a parameter where it belongs. The graph would copy it, as Java holds it
   * too; what waits for the parameter hears of it all the same.
   */
  private void addToLeaf(Tensor leaf, Tensor gradient, List<Tensor> all) {
    if (!leaf.defined() || !gradient.defined()) {
      return;
    }
    Tensor sum = leaf.grad();
    if (sum.defined()) {
      sum.add_(gradient);
      return;
    }
    leaf.mutable_grad().put(isOthersToo(gradient, all) ? gradient.clone() : gradient);
  }

  /** Tells whether what has come in may be somebody else's too: then it must not be added to. */
  private boolean isOthersToo(Tensor gradient, List<Tensor> all) {
    if (gradients.stream().noneMatch(gradient::is_same)) {
      return false;
    }
    Set<Tensor> own = Collections.newSetFromMap(new IdentityHashMap<>());
    Stream.of(gradients, all).flatMap(List::stream).filter(gradient::is_same).forEach(own::add);
    return all.stream().filter(gradient::is_same).count() > 1 || gradient.use_count() > own.size();
  }

  private final class Taking extends FunctionPreHook {
    @Override
    public TensorVector apply(TensorVector incoming) {
      try (var _ = TensorScope.open()) {
        List<Tensor> all = new ArrayList<>();
        for (long i = 0; i < incoming.size(); i++) {
          all.add(TensorScope.keep(new Tensor(incoming.get(i))));
        }
        gradients = all;
        return recorded.returned(new TensorVector(incoming.size()));
      }
    }
  }

  private final class Giving extends FunctionPostHook {
    @Override
    public TensorVector apply(TensorVector outputs, TensorVector inputs) {
      if (isOver) {
        throw new IllegalStateException("backward through a graph that was given up");
      }
      try (var _ = TensorScope.open();
          var _ = new NoGradGuard()) {
        var all = GradientRooms.whileGiving(() -> backward.apply(gradients));
        for (int i = 0; i < all.size(); i++) {
          addToLeaf(leaves.get(i), all.get(i), all);
        }
        var results =
            Arrays.stream(edges)
                .mapToObj(i -> leaves.get(i).defined() ? new Tensor() : all.get(i))
                .toArray(Tensor[]::new);
        var result =
            recorded.returned(
                results.length == 0 ? new TensorVector(1) : new TensorVector(results));
        end();
        return result;
      }
    }
  }
}
