package dev.flotilla.app.doctor;

import dev.flotilla.app.doctor.HostFacts.Disk;
import dev.flotilla.app.doctor.HostFacts.Gpus;
import dev.flotilla.app.doctor.HostFacts.Job;
import dev.flotilla.app.doctor.HostFacts.Memory;
import dev.flotilla.app.doctor.HostFacts.Name;
import dev.flotilla.app.doctor.HostFacts.Natives;
import dev.flotilla.app.doctor.HostFacts.Network;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Reads what a host says of itself, and has it judged. */
public final class HostReader {

  private static final int LONGEST_CHECK_SECONDS = 3;
  private static final Pattern DRIVER = Pattern.compile("\\b(\\d{3}\\.\\d+(\\.\\d+)?)\\b");
  private static final Pattern VERSION = Pattern.compile("pytorch-(\\d[\\d.]*)-");
  private static final Path CGROUP = Path.of("/sys/fs/cgroup");

  private final Job job;
  private final Path runs;

  /**
   * Prepares to look at this host.
   *
   * @param job what is to run here
   * @param runs where runs go; need not exist
   */
  public HostReader(Job job, Path runs) {
    this.job = job;
    this.runs = runs;
  }

  /** Makes all checks; one that fails says so, and the others are made all the same. */
  public List<Finding> look() {
    int cores = Runtime.getRuntime().availableProcessors();
    List<Finding> findings = new ArrayList<>();
    findings.add(
        guarded(
            "jdk", () -> HostChecks.jdk(Runtime.version(), System.getProperty("java.home", "?"))));
    findings.add(guarded("natives", () -> HostChecks.natives(natives())));
    findings.add(
        guarded("cpu", () -> HostChecks.cpu(read(Path.of("/proc/cpuinfo")), cores, job.ranks())));
    findings.add(guarded("load", () -> HostChecks.load(load(), cores)));
    findings.add(guarded("gpu", () -> HostChecks.gpu(gpus())));
    findings.add(guarded("memory", () -> HostChecks.memory(memory(), job.ranks())));
    findings.add(guarded("disk", () -> HostChecks.disk(disk(runs))));
    findings.add(guarded("descriptors", this::descriptors));
    findings.add(guarded("interfaces", () -> NetworkChecks.interfaces(networks(), job)));
    findings.add(guarded("names", () -> NetworkChecks.names(name(), networks(), job)));
    findings.add(guarded("master", () -> NetworkChecks.master(job, masters(), networks())));
    findings.add(guarded("ports", () -> NetworkChecks.ports(job, busyPort())));
    return findings;
  }

  /** A name server or a file system that does not answer must not keep the others from it. */
  static Finding guarded(String check, Callable<Finding> look) {
    var task = new FutureTask<>(look);
    Thread.ofVirtual().start(task);
    try {
      return task.get(LONGEST_CHECK_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException failure) {
      var cause = failure.getCause() == null ? failure : failure.getCause();
      String said = cause.getMessage();
      return Finding.unknown(check, said == null ? cause.getClass().getSimpleName() : said);
    } catch (TimeoutException late) {
      return Finding.unknown(check, "no answer within %d s".formatted(LONGEST_CHECK_SECONDS));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return Finding.unknown(check, "interrupted");
    }
  }

  private static Natives natives() {
    try {
      var folder =
          NativeLibraries.properties().getOrDefault("org.bytedeco.javacpp.cachedir", "its cache");
      return new Natives(version(), NativeLibraries.areUnpacked(), folder, Optional.empty());
    } catch (ConfigException unusable) {
      return new Natives(
          version(), false, "", Optional.of(unusable.problems().getFirst().message()));
    }
  }

  /** The binding's jar carries libtorch's version in its name; nothing native is loaded for it. */
  private static String version() {
    var binding =
        HostReader.class.getClassLoader().getResource("org/bytedeco/pytorch/global/torch.class");
    var found = VERSION.matcher(Objects.toString(binding));
    return found.find() ? found.group(1) : "?";
  }

  private static double load() throws IOException {
    return Double.parseDouble(read(Path.of("/proc/loadavg")).split(" ", 2)[0]);
  }

  private static Gpus gpus() throws IOException {
    var version = Path.of("/proc/driver/nvidia/version");
    Optional<String> driver = Optional.empty();
    if (Files.isReadable(version)) {
      var found = DRIVER.matcher(read(version));
      driver = found.find() ? Optional.of(found.group(1)) : Optional.empty();
    }
    try (var devices = Files.newDirectoryStream(Path.of("/dev"), "nvidia[0-9]*")) {
      int count = 0;
      for (var _ : devices) {
        count++;
      }
      return new Gpus(driver, count, NativeLibraries.isCudaBuild());
    }
  }

  private static Memory memory() throws IOException {
    var info = read(Path.of("/proc/meminfo"));
    return new Memory(
        kibibytes(info, "MemTotal:"),
        kibibytes(info, "MemAvailable:"),
        number(CGROUP.resolve("memory.max")),
        number(CGROUP.resolve("memory.current")));
  }

  private static long kibibytes(String info, String field) {
    return info.lines()
        .filter(line -> line.startsWith(field))
        .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", "")))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("/proc/meminfo has no " + field));
  }

  /** Returns the number that a file holds, or 0 where there is none. */
  private static long number(Path file) throws IOException {
    var text = Files.isReadable(file) ? read(file).strip() : "";
    return text.matches("\\d{1,18}") ? Long.parseLong(text) : 0;
  }

  private static Disk disk(Path wanted) throws IOException {
    var folder = wanted.toAbsolutePath();
    while (Files.notExists(folder) && folder.getParent() != null) {
      folder = folder.getParent();
    }
    var store = Files.getFileStore(folder);
    return new Disk(folder.toString(), store.getUsableSpace(), store.type(), canWrite(folder));
  }

  /** Tries it: a file system mounted for reading alone has the same permissions. */
  private static boolean canWrite(Path folder) {
    try {
      Files.delete(Files.createTempFile(folder, ".flotilla-doctor", ""));
      return true;
    } catch (IOException refused) {
      return false;
    }
  }

  private Finding descriptors() throws IOException {
    var limits = HostChecks.openFiles(read(Path.of("/proc/self/limits")));
    return HostChecks.descriptors(limits.getFirst(), limits.getLast(), job);
  }

  private static List<Network> networks() throws SocketException {
    List<Network> networks = new ArrayList<>();
    try (Stream<NetworkInterface> all = NetworkInterface.networkInterfaces()) {
      for (var each : all.toList()) {
        var addresses = each.inetAddresses().map(HostReader::text).toList();
        if (each.isUp() && !addresses.isEmpty()) {
          networks.add(
              new Network(each.getName(), each.isLoopback(), addresses, megabits(each.getName())));
        }
      }
    }
    return networks;
  }

  private static String text(InetAddress address) {
    return address.getHostAddress().replaceFirst("%.*", "");
  }

  private static int megabits(String name) {
    try {
      return (int) Math.max(0, number(Path.of("/sys/class/net", name, "speed")));
    } catch (IOException untold) {
      return 0;
    }
  }

  private static Name name() throws IOException {
    var name = read(Path.of("/proc/sys/kernel/hostname")).strip();
    return new Name(name, resolved(name));
  }

  private List<String> masters() {
    return job.masterAddress().map(HostReader::resolved).orElse(List.of());
  }

  private static List<String> resolved(String name) {
    try {
      return Stream.of(InetAddress.getAllByName(name)).map(HostReader::text).distinct().toList();
    } catch (UnknownHostException unknown) {
      return List.of();
    }
  }

  private Optional<Integer> busyPort() {
    if (!job.hasSeveralHosts() || job.nodeRank() > 0) {
      return Optional.empty();
    }
    return Stream.of(job.masterPort(), job.masterPort() + 1)
        .filter(port -> !isFree(port))
        .findFirst();
  }

  private static boolean isFree(int port) {
    try (var socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(port));
      return true;
    } catch (IOException taken) {
      return false;
    }
  }

  private static String read(Path file) throws IOException {
    return Files.readString(file);
  }
}
