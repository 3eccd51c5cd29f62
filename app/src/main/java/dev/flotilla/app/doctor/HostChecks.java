package dev.flotilla.app.doctor;

import dev.flotilla.app.doctor.HostFacts.Disk;
import dev.flotilla.app.doctor.HostFacts.Gpus;
import dev.flotilla.app.doctor.HostFacts.Job;
import dev.flotilla.app.doctor.HostFacts.Memory;
import dev.flotilla.app.doctor.HostFacts.Natives;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/** Judges what was read of a host's machine; each check is a function of that alone. */
public final class HostChecks {

  /** What a rank takes before it holds a model: a JVM and libtorch. */
  static final long BYTES_OF_RANK = 400L << 20;

  private static final long LITTLE_DISK = 2L << 30;
  private static final double GIB = 1L << 30;
  private static final Runtime.Version SOUND = Runtime.Version.parse("25.0.3");

  private HostChecks() {}

  /** Looks at the JDK: 25.0.0 to 25.0.2 may move arrays that native code holds (JDK-8377811). */
  public static Finding jdk(Runtime.Version version, String home) {
    String seen = "Java %s in %s".formatted(version, home);
    return version.compareToIgnoreOptional(SOUND) >= 0
        ? Finding.ok("jdk", seen)
        : Finding.warning(
            "jdk",
            seen,
            "25.0.0 to 25.0.2 may move arrays that native code holds (JDK-8377811): data can be"
                + " corrupted",
            "install JDK 25.0.3 or later, and set JAVA_HOME to it");
  }

  /** Looks at libtorch's files. */
  public static Finding natives(Natives natives) {
    if (natives.problem().isPresent()) {
      return Finding.error(
          "natives",
          natives.problem().get(),
          "native libraries are code: from a folder that others can write to none is loaded",
          "chmod 700 the folder, or set XDG_CACHE_HOME to another one");
    }
    return natives.isUnpacked()
        ? Finding.ok(
            "natives",
            "libtorch %s is unpacked in %s".formatted(natives.version(), natives.folder()))
        : Finding.warning(
            "natives",
            "libtorch %s is not unpacked in %s yet".formatted(natives.version(), natives.folder()),
            "the first run does it, which takes some seconds, and on arm64 a download of 270 MB;"
                + " links between ranks are not measured before",
            "run flotilla train once, then the doctor again");
  }

  /** Looks at the instructions that matter to libtorch, as /proc/cpuinfo lists them. */
  public static Finding cpu(String cpuinfo, int cores, int ranks) {
    var flags = flags(cpuinfo);
    var has = new TreeSet<>(flags);
    has.retainAll(
        Set.of(
            "avx2",
            "avx512f",
            "avx512_bf16",
            "avx512_vnni",
            "amx_bf16",
            "asimd",
            "bf16",
            "sve",
            "i8mm"));
    String seen =
        "%d core%s, instructions: %s"
            .formatted(cores, cores == 1 ? "" : "s", has.isEmpty() ? "?" : String.join(" ", has));
    if (ranks > cores) {
      return Finding.warning(
          "cpu",
          seen + "; %d ranks are asked for".formatted(ranks),
          "ranks take turns on the cores, and wait for each other in every exchange",
          "start at most one rank per core, or expect less than the sum of their speeds");
    }
    boolean isOldX86 = flags.contains("sse2") && !flags.contains("avx2");
    if (isOldX86) {
      return Finding.warning(
          "cpu",
          seen + "; no avx2",
          "libtorch falls back to instructions of a quarter of the width",
          "use a processor from 2013 on; in a virtual machine, pass the host's processor on"
              + " (QEMU: -cpu host)");
    }
    boolean hasHalf = flags.stream().anyMatch(Set.of("avx512_bf16", "amx_bf16", "bf16")::contains);
    return Finding.ok(
        "cpu", seen + (hasHalf ? "" : "; no bf16: amp saves memory here, but hardly time"));
  }

  private static Set<String> flags(String cpuinfo) {
    return cpuinfo
        .lines()
        .filter(line -> line.startsWith("flags") || line.startsWith("Features"))
        .findFirst()
        .map(line -> line.substring(line.indexOf(':') + 1).strip())
        .map(line -> Set.copyOf(Arrays.asList(line.split("\\s+", -1))))
        .orElse(Set.of());
  }

  /** Looks at what else runs here, by the load of the last minute. */
  public static Finding load(double load, int cores) {
    String seen = String.format(Locale.ROOT, "load %.1f on %d cores", load, cores);
    return load <= Math.max(1, 0.5 * cores)
        ? Finding.ok("load", seen)
        : Finding.warning(
            "load",
            seen,
            "other processes take cores that ranks want; a busy host makes all ranks wait",
            "end what need not run (top shows it), or start fewer ranks here");
  }

  /** Looks at GPUs, and whether this build can use them. */
  public static Finding gpu(Gpus gpus) {
    if (gpus.devices() == 0) {
      return gpus.isCudaBuild()
          ? Finding.warning(
              "gpu",
              "no NVIDIA GPU, and the build for CUDA",
              "training runs on the CPU, with libraries that are larger than it needs",
              "build with FLOTILLA_CUDA=0, or look whether nvidia-smi lists the GPU")
          : Finding.ok("gpu", "none; training runs on the CPU");
    }
    String seen =
        "%d NVIDIA GPU%s, driver %s"
            .formatted(
                gpus.devices(), gpus.devices() == 1 ? "" : "s", gpus.driver().orElse("not found"));
    if (!gpus.isCudaBuild()) {
      return Finding.warning(
          "gpu",
          seen + ", but the build of libtorch for CPUs",
          "training runs on the CPU",
          "build with FLOTILLA_CUDA=1 ./flotilla (x86-64 alone), see docs/gpu.md");
    }
    int major = gpus.driver().map(it -> it.split("\\.", 2)[0]).map(HostChecks::number).orElse(0);
    return major >= 580
        ? Finding.ok("gpu", seen)
        : Finding.error(
            "gpu",
            seen,
            "libtorch's build for CUDA 13 needs driver 580 or later",
            "install a newer driver, or set device: cpu");
  }

  private static int number(String text) {
    return text.matches("\\d{1,9}") ? Integer.parseInt(text) : 0;
  }

  /** Looks at memory, and what a control group leaves of it. */
  public static Finding memory(Memory memory, int ranks) {
    String limit =
        memory.limit() == 0 ? "" : ", a control group allows %s".formatted(gib(memory.limit()));
    String seen = "%s free of %s%s".formatted(gib(memory.room()), gib(memory.total()), limit);
    long needed = ranks * BYTES_OF_RANK;
    if (memory.room() < needed) {
      return Finding.error(
          "memory",
          seen,
          "%d rank%s need about %s before a model is loaded: the kernel would kill one"
              .formatted(ranks, ranks == 1 ? "" : "s", gib(needed)),
          memory.limit() > 0 && memory.limit() - memory.used() < memory.available()
              ? "raise the limit of the container (docker: --memory), or start fewer ranks"
              : "end other programs, or start fewer ranks");
    }
    return memory.room() < 2 * needed
        ? Finding.warning(
            "memory",
            seen,
            "little is left beside the %s that JVMs and libtorch take".formatted(gib(needed)),
            "start fewer ranks, or see flotilla plan --advise for what saves memory")
        : Finding.ok("memory", seen);
  }

  static String gib(long bytes) {
    return String.format(Locale.ROOT, "%.1f GiB", bytes / GIB);
  }

  /** Looks at the place where runs and their checkpoints go. */
  public static Finding disk(Disk disk) {
    String seen =
        "%s has %s free (%s)".formatted(disk.folder(), gib(disk.freeBytes()), disk.type());
    if (!disk.isWritable()) {
      return Finding.error(
          "disk",
          disk.folder() + " cannot be written to",
          "a run could not make its folder",
          "start it elsewhere, name a folder with --out, or change the owner of this one");
    }
    if (disk.freeBytes() < LITTLE_DISK) {
      return Finding.warning(
          "disk",
          seen,
          "checkpoints take the parameters and what the optimizer remembers of them, several times"
              + " over",
          "make room, or name a folder on another disk with --out");
    }
    return Set.of("tmpfs", "ramfs").contains(disk.type())
        ? Finding.warning(
            "disk",
            seen,
            "it is memory: checkpoints take what ranks need, and are gone when the machine stops",
            "name a folder on a disk with --out")
        : Finding.ok("disk", seen);
  }

  /** Looks at how many files and connections a process may have open. */
  public static Finding descriptors(long soft, long hard, Job job) {
    long all = (long) job.ranks() * job.nodes();
    // Jars, libraries and logs; a few groups with a connection to each other rank.
    long needed = 256 + 8 * all;
    String seen = "%d open files and connections allowed per process".formatted(soft);
    return soft >= needed
        ? Finding.ok("descriptors", seen)
        : Finding.error(
            "descriptors",
            seen,
            "%d ranks need about %d each: connections would fail".formatted(all, needed),
            hard >= needed
                ? "ulimit -n %d".formatted(needed)
                : "raise nofile in /etc/security/limits.conf to %d, and log in again"
                    .formatted(needed));
  }

  /** Returns the soft and the hard limit that a process has, from /proc/self/limits. */
  static List<Long> openFiles(String limits) {
    return limits
        .lines()
        .filter(line -> line.startsWith("Max open files"))
        .findFirst()
        .map(line -> line.substring("Max open files".length()).strip().split("\\s+", -1))
        .map(words -> List.of(limit(words[0]), limit(words[1])))
        .orElseThrow(() -> new IllegalArgumentException("/proc/self/limits has no open files"));
  }

  private static long limit(String word) {
    return word.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(word);
  }
}
