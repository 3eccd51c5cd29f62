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
import org.jspecify.annotations.Nullable;

/**
 * A function with a backward of its own in libtorch's graph: what PyTorch calls an
 * autograd.Function.
 *
 * <p>The binding has no class for it. So a node of another function is taken, a view or a
 * concatenation, and led to the inputs; a hook before it takes the gradients away, whereupon it
 * computes nothing, and a hook after it gives those of the inputs instead.
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

  /** By the number of edges: as many leaves, which a function of them has as its inputs. */
  private static final Map<Integer, TensorVector> LEAVES = new ConcurrentHashMap<>();

  private static final ThreadLocal<Recorded> RECORDED = ThreadLocal.withInitial(Recorded::new);

  private static volatile boolean areLeavesWatched;

  private final Backward backward;
  private final List<Tensor> saved;
  // Parameters among the inputs, whose gradients are added where they belong.
  private final @Nullable Tensor[] leaves;
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
      return functions.isEmpty() ? Set.of() : Set.copyOf(functions);
    }

    TensorVector returned(TensorVector result) {
      TensorScope.free(returned.put(Thread.currentThread(), TensorScope.keep(result)));
      return result;
    }

    void freeReturned() {
      if (!returned.isEmpty()) {
        returned.values().forEach(TensorScope::free);
        returned.clear();
      }
    }
  }

  private AutogradFunction(
      List<Tensor> inputs, List<Tensor> saved, Backward backward, Recorded recorded) {
    saved.forEach(TensorScope::keep);
    this.saved = saved;
    this.leaves = leaves(inputs);
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
    if (!GradMode.is_enabled() || !isAnyTrained(inputs)) {
      return;
    }
    var recorded = RECORDED.get();
    var function = new AutogradFunction(inputs, List.copyOf(saved), backward, recorded);
    recorded.add(function);
    try (var _ = TensorScope.open()) {
      Node node = nodeWith(Math.max(1, function.edges.length));
      node.clear_input_metadata();
      if (function.edges.length == 0) {
        node.set_next_edge(0, new Edge());
      }
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

  private static boolean isAnyTrained(List<Tensor> inputs) {
    for (var input : inputs) {
      if (input.requires_grad()) {
        return true;
      }
    }
    return false;
  }

  /** Returns a node of a function that any would do for, with so many edges. */
  private static Node nodeWith(int edges) {
    var leaves = LEAVES.computeIfAbsent(edges, AutogradFunction::leaves);
    if (edges == 1) { // a view takes a third of the time of a concatenation
      Tensor leaf = leaves.get(0);
      return leaf.view_as(leaf).grad_fn();
    }
    return torch.cat(leaves).grad_fn();
  }

  /** Returns handles of our own of the parameters among the inputs, each at its place. */
  private static @Nullable Tensor[] leaves(List<Tensor> inputs) {
    var leaves = new @Nullable Tensor[inputs.size()];
    for (int i = 0; i < leaves.length; i++) {
      var input = inputs.get(i);
      leaves[i] =
          input.requires_grad() && input.is_leaf() ? TensorScope.keep(new Tensor(input)) : null;
    }
    return leaves;
  }

  /** Any function of a parameter leads to where its gradient goes. */
  private static Edge edge(Tensor input) {
    return input.is_leaf()
        ? input.view_as(input).grad_fn().next_edge(0)
        : new Edge(input.grad_fn(), Math.toIntExact(input.output_nr()));
  }

  /** Inputs whose gradients the graph has to pass on, or to tell of. */
  private static int[] edges(List<Tensor> inputs, @Nullable Tensor[] leaves) {
    var edges = new int[inputs.size()];
    int count = 0;
    for (int i = 0; i < edges.length; i++) {
      if (inputs.get(i).requires_grad() && (areLeavesWatched || leaves[i] == null)) {
        edges[count++] = i;
      }
    }
    return Arrays.copyOf(edges, count);
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
    for (var function : RECORDED.get().all()) {
      if (!others.contains(function)) {
        function.end();
      }
    }
  }

  private void end() {
    isOver = true;
    recorded.remove(this);
    saved.forEach(TensorScope::free);
    for (var leaf : leaves) {
      TensorScope.free(leaf);
    }
    gradients.forEach(TensorScope::free);
  }

  /**
   * Adds the gradient of a parameter where it belongs. The graph would copy it, as Java holds it
   * too; what waits for the parameter hears of it all the same.
   */
  private void addToLeaf(@Nullable Tensor leaf, Tensor gradient, List<Tensor> all) {
    if (leaf == null || !gradient.defined()) {
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
          addToLeaf(leaves[i], all.get(i), all);
        }
        var results = new Tensor[edges.length];
        for (int i = 0; i < results.length; i++) {
          results[i] = leaves[edges[i]] == null ? all.get(edges[i]) : new Tensor();
        }
        var result =
            recorded.returned(
                results.length == 0 ? new TensorVector(1) : new TensorVector(results));
        end();
        return result;
      }
    }
  }
}
