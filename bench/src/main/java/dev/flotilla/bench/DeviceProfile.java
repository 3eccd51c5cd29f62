package dev.flotilla.bench;

import dev.flotilla.bench.GpuTrace.Activity;
import dev.flotilla.bench.GpuTrace.Kind;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Says where the time of a training step on a GPU goes: kernels by part, what lies between them,
 * how long the host takes to hand work over, and where it waits.
 *
 * <p>{@code DeviceProfile MODEL BATCH STEPS [OPTIONS] [kernels]}, as for {@link DeviceStep}; {@code
 * kernels} lists the longest by name too
 */
final class DeviceProfile {

  private static final int WARM_UP = 40;
  private static final int SHOWN = 45;
  private static final int GAPS = 12;
  private static final String OTHERS = "other kernels";

  /** What the name of a kernel tells about its part, in the order in which they are looked for. */
  private static final Map<String, List<String>> PARTS = new LinkedHashMap<>();

  static {
    PARTS.put("x + dropout(p), layer norm", List.of("added_norm", "layer_norm"));
    PARTS.put("gelu", List.of("bias_gelu", "Gelu", "gelu"));
    PARTS.put("sums of columns", List.of("columns_joined"));
    PARTS.put("weights to bf16", List.of("halves"));
    PARTS.put("loss", List.of("cross_entropy", "softmax", "SoftMax", "nll_loss", "dot_kernel"));
    PARTS.put("attention", List.of("fmha", "flash", "cudnn", "sdpa", "attention", "mha_"));
    PARTS.put(
        "products", List.of("nvjet", "gemm", "cutlass", "xmma", "splitKreduce", "cublas", "gemv"));
    PARTS.put("optimizer", List.of("FusedAdam", "FusedSgd", "fused_sgd", "adam"));
    PARTS.put("scale and search of gradients", List.of("amp_", "non_finite"));
    PARTS.put("gradients into the arena", List.of("multi_tensor_apply"));
    PARTS.put("convolution and pooling", List.of("conv", "pool"));
    PARTS.put("embedding", List.of("embedding", "Embedding", "index", "radix", "thrust", "cub"));
    PARTS.put("concatenation", List.of("CatArray"));
    PARTS.put("sums", List.of("reduce_kernel"));
    PARTS.put("dropout", List.of("dropout"));
    PARTS.put("conversion and copies", List.of("copy", "Copy"));
    PARTS.put("zeros", List.of("FillFunctor"));
    PARTS.put("additions", List.of("add", "Add"));
  }

  private DeviceProfile() {}

  /** Prints a table of milliseconds per step. */
  public static void main(String[] args) {
    int steps = Integer.parseInt(args[2]);
    try (var subject = DeviceStep.subject(args)) {
      subject.run(Math.max(WARM_UP, steps));
      subject.device().synchronize();
      long start = System.nanoTime();
      subject.run(steps);
      subject.device().synchronize();
      double plain = (System.nanoTime() - start) / 1e6 / steps;
      try (var trace = new GpuTrace()) {
        subject.run(steps);
        subject.device().synchronize();
        print(trace.activities(), steps, plain, List.of(args).contains("kernels"));
      }
    }
  }

  private static void print(List<Activity> all, int steps, double plain, boolean isLong) {
    var onGpu = all.stream().filter(it -> it.kind() != Kind.WAIT).toList();
    var byPart = onGpu.stream().collect(Collectors.groupingBy(DeviceProfile::part));
    System.out.printf(Locale.ROOT, "%-36s %9s %9s%n", "part", "ms/step", "per step");
    byPart.entrySet().stream()
        .sorted(Comparator.comparingLong(entry -> -nanos(entry.getValue())))
        .forEach(entry -> line(entry.getKey(), entry.getValue(), steps));
    long busy = busy(onGpu);
    long whole = onGpu.getLast().end() - onGpu.getFirst().start();
    number("the GPU is busy", busy / 1e6 / steps);
    number("the GPU is idle", (whole - busy) / 1e6 / steps);
    number("step, while listened to", whole / 1e6 / steps);
    number("step, alone", plain);
    var waits = all.stream().filter(it -> it.kind() == Kind.WAIT).toList();
    line("the host waits", waits, steps);
    number("the host's own time", (whole - nanos(waits)) / 1e6 / steps);
    if (isLong) {
      gaps(onGpu).entrySet().stream()
          .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
          .limit(GAPS)
          .forEach(gap -> number("idle before " + gap.getKey(), gap.getValue() / 1e6 / steps));
      onGpu.stream().collect(Collectors.groupingBy(Activity::name)).entrySet().stream()
          .sorted(Comparator.comparingLong(entry -> -nanos(entry.getValue())))
          .limit(SHOWN)
          .forEach(entry -> line(entry.getKey(), entry.getValue(), steps));
    }
  }

  private static String part(Activity activity) {
    return switch (activity.kind()) {
      case COPY -> "copies by the driver";
      case FILL -> "zeros by the driver";
      default ->
          PARTS.entrySet().stream()
              .filter(part -> part.getValue().stream().anyMatch(activity.name()::contains))
              .map(Map.Entry::getKey)
              .findFirst()
              .orElse(OTHERS);
    };
  }

  private static long nanos(List<Activity> activities) {
    return activities.stream().mapToLong(Activity::nanos).sum();
  }

  /** Time in which at least one kernel runs. */
  private static long busy(List<Activity> inOrder) {
    long busy = 0;
    long until = Long.MIN_VALUE;
    for (var activity : inOrder) {
      busy += Math.max(0, activity.end() - Math.max(until, activity.start()));
      until = Math.max(until, activity.end());
    }
    return busy;
  }

  /** Time in which nothing runs, by the part that ends it. */
  private static Map<String, Long> gaps(List<Activity> inOrder) {
    Map<String, Long> gaps = new HashMap<>();
    long until = inOrder.getFirst().start();
    for (var activity : inOrder) {
      gaps.merge(part(activity), Math.max(0, activity.start() - until), Long::sum);
      until = Math.max(until, activity.end());
    }
    return gaps;
  }

  private static void line(String name, List<Activity> activities, int steps) {
    System.out.printf(
        Locale.ROOT,
        "%-36s %9.3f %9.1f%n",
        name,
        nanos(activities) / 1e6 / steps,
        activities.size() / (double) steps);
  }

  private static void number(String name, double value) {
    System.out.printf(Locale.ROOT, "%-36s %9.3f%n", name, value);
  }
}
