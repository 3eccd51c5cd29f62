package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.flotilla.control.JobKey;
import dev.flotilla.control.PrivateFiles;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class LaunchFlagsTests {

  private static final List<AppOption> APP =
      List.of(new AppOption("--set", true), new AppOption("--json", false));

  @TempDir static Path keys;

  @BeforeAll
  static void writeKey() throws IOException {
    newKey("k", JobKey.newText());
  }

  private static Path newKey(String name, String text) throws IOException {
    Path file = keys.resolve(name);
    try (var out = PrivateFiles.newFile(file)) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    }
    return file;
  }

  /** Several hosts have a key unless they shall not. */
  private static ParsedFlags parse(Map<String, String> environment, String... arguments) {
    var known = new HashMap<>(environment);
    if (!environment.containsKey("no key")) {
      known.putIfAbsent("FLOTILLA_JOB_KEY_FILE", keys.resolve("k").toString());
    }
    return parseOnly(known, arguments);
  }

  private static ParsedFlags parseOnly(Map<String, String> environment, String... arguments) {
    return new LaunchFlags(environment, 6, () -> Set.of("10.0.0.2", "127.0.0.1"), APP)
        .parse(List.of(arguments));
  }

  private static ParsedFlags parse(String line) {
    return parse(Map.of(), words(line));
  }

  private static String[] words(String line) {
    return line.isBlank() ? new String[0] : line.strip().split(" +");
  }

  private static List<String> problems(Map<String, String> environment, String line) {
    LaunchException refusal =
        catchThrowableOfType(LaunchException.class, () -> parse(environment, words(line)));
    assertThat(refusal).as(line).isNotNull();
    assertThat(refusal.exitCode()).isEqualTo(2);
    return refusal.problems();
  }

  @Test
  void startsOneRankHereByDefault() {
    ParsedFlags parsed = parse("");

    LaunchSettings settings = parsed.settings();
    assertThat(settings.processes()).isEqualTo(1);
    assertThat(settings.nodes()).isEqualTo(1);
    assertThat(settings.nodeRank()).isZero();
    assertThat(settings.masterPort()).isEmpty();
    assertThat(settings.logDir()).isEqualTo(Path.of("log"));
    assertThat(settings.grace()).isEqualTo(Duration.ofSeconds(5));
    assertThat(parsed.logDir()).isEmpty();
    assertThat(parsed.mainClass()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "--nproc 3, 3",
    "--nproc=3, 3",
    "--nproc-per-node 3, 3",
    "--nproc_per_node=3, 3",
    "--nproc_per_node auto, 6",
    "--nproc-per-node cpu, 6",
    "--nproc 2 --nproc 4, 4",
  })
  void readsTheNumberOfRanks(String line, int processes) {
    assertThat(parse(line).settings().processes()).isEqualTo(processes);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--nnodes 2 --node-rank 1 --master-addr h --master-port 77 | 2 | 1 | h | 77",
        "--nnodes 2:2 --node_rank 1 --master_addr h | 2 | 1 | h | -1",
        "--nnodes 3 --rank 2 --master 10.0.0.1:99 | 3 | 2 | 10.0.0.1 | 99",
        "--nnodes 3 --rank 2 --master 10.0.0.1 --master-port 9 | 3 | 2 | 10.0.0.1 | 9",
        "--nnodes 2 --node-rank 0 --rdzv-backend c10d --rdzv-endpoint h | 2 | 0 | h | 29400",
        "--nnodes 2 --node-rank 0 --rdzv-backend static --rdzv-endpoint h:5 | 2 | 0 | h | 5",
        "--rdzv-backend=c10d --rdzv-endpoint=localhost:0 | 1 | 0 | localhost | -1",
        "--nnodes 2 --node-rank 0 --rdzv-endpoint [fd00::1]:5 | 2 | 0 | fd00::1 | 5",
        "--nnodes 2 --node-rank 0 --master [fd00::1]:5 | 2 | 0 | fd00::1 | 5",
        "--nnodes 2 --node-rank 0 --master-addr fd00::1 --master-port 5 | 2 | 0 | fd00::1 | 5",
        "--nnodes 2 --node-rank 0 --master-addr [fd00::1] --master-port 5 | 2 | 0 | fd00::1 | 5",
        "--standalone | 1 | 0 | 127.0.0.1 | -1",
        "--rank -1 | 1 | 0 | 127.0.0.1 | -1",
        "--master-port 0 | 1 | 0 | 127.0.0.1 | -1",
        "--ips 10.0.0.1,10.0.0.2 | 2 | 1 | 10.0.0.1 | -1",
        "--ips 10.0.0.1,10.0.0.3 --rank 1 --master 10.0.0.3:8 | 2 | 1 | 10.0.0.3 | 8",
        "--ips 127.0.0.1 | 1 | 0 | 127.0.0.1 | -1",
      })
  void readsHostsAndMaster(String line, int nodes, int nodeRank, String host, int port) {
    LaunchSettings settings = parse(line).settings();

    assertThat(settings.nodes()).isEqualTo(nodes);
    assertThat(settings.nodeRank()).isEqualTo(nodeRank);
    assertThat(settings.masterAddress()).contains(host);
    assertThat(settings.masterPort())
        .isEqualTo(port < 0 ? OptionalInt.empty() : OptionalInt.of(port));
  }

  @Test
  void readsTheRemainingSettings() {
    ParsedFlags parsed =
        parse(
            "--log_dir out/log --job_id j7 --role trainer --grace-period 2 --main a.Main"
                + " -cp x.jar:y.jar");

    assertThat(parsed.settings().logDir()).isEqualTo(Path.of("out/log"));
    assertThat(parsed.logDir()).contains(Path.of("out/log"));
    assertThat(parsed.settings().jobId()).isEqualTo("j7");
    assertThat(parsed.settings().role()).isEqualTo("trainer");
    assertThat(parsed.settings().grace()).isEqualTo(Duration.ofSeconds(2));
    assertThat(parsed.mainClass()).contains("a.Main");
    assertThat(parsed.classPath()).contains("x.jar:y.jar");
  }

  @Test
  void passesOptionsOfTheApplicationOnInOrder() {
    ParsedFlags parsed =
        parse("--set a=1 --json --set=b.c=2 recipe.yaml --set d=3 --nproc 9 -- --nproc 3");

    assertThat(parsed.appArguments())
        .containsExactly("--set", "a=1", "--json", "--set=b.c=2", "--set", "d=3");
    assertThat(parsed.rest()).containsExactly("recipe.yaml", "--nproc", "3");
    assertThat(parsed.settings().processes()).isEqualTo(9);
  }

  @Test
  void leavesAProgramItsOptions() {
    ParsedFlags parsed = parse("--nproc 2 --main M input --nproc 9");

    assertThat(parsed.rest()).containsExactly("input", "--nproc", "9");
    assertThat(parsed.settings().processes()).isEqualTo(2);
  }

  @Test
  void bothPortsOfTheFirstHostMustBeFree() throws IOException {
    try (var second = new ServerSocket(0)) {
      int port = second.getLocalPort() - 1;
      LaunchSettings settings =
          parse("--nnodes 2 --node-rank 0 --master-addr 127.0.0.1 --master-port " + port)
              .settings();

      assertThatThrownBy(() -> MasterPort.choose(settings))
          .isInstanceOfSatisfying(
              LaunchException.class,
              refused -> {
                assertThat(refused.exitCode()).isEqualTo(ExitCodes.RENDEZVOUS_FAILED);
                assertThat(refused.problems().getLast())
                    .contains("port %d of this host, at which the launchers".formatted(port + 1))
                    .contains("it is --master-port + 1: choose another --master-port");
              });
    }
  }

  @Test
  void stopsAtTwoDashes() {
    assertThat(parse("--main M -- --nproc 3 --").rest()).containsExactly("--nproc", "3", "--");
  }

  @Test
  void takesDefaultsFromTheEnvironment() {
    var environment =
        Map.of(
            "PET_NNODES", "2",
            "PET_NPROC_PER_NODE", "3",
            "PET_NODE_RANK", "1",
            "PET_MASTER_ADDR", "pod-0",
            "PET_MASTER_PORT", "29500",
            "PET_MAX_RESTARTS", "3",
            "PET_RDZV_ENDPOINT", "");

    LaunchSettings settings = parse(environment, "--max-restarts", "0", "--nproc=2").settings();

    assertThat(settings.processes()).isEqualTo(2);
    assertThat(settings.nodes()).isEqualTo(2);
    assertThat(settings.nodeRank()).isEqualTo(1);
    assertThat(settings.masterAddress()).contains("pod-0");
    assertThat(settings.masterPort()).hasValue(29500);
  }

  @Test
  void prefersTheCommandLineToTheEnvironment() {
    var environment = Map.of("PET_MASTER_ADDR", "pod-0", "PET_MASTER_PORT", "29500");

    LaunchSettings settings =
        parse(environment, words("--nnodes 2 --rank 0 --master other:7")).settings();

    assertThat(settings.masterAddress()).isEqualTo(Optional.of("other"));
    assertThat(settings.masterPort()).hasValue(7);
  }

  @Test
  void takesTheNumberOfAHostFromAnIndexedJob() {
    var environment = Map.of("JOB_COMPLETION_INDEX", "1");

    assertThat(parse(environment, words("--nnodes 2 --master h:1")).settings().nodeRank())
        .isEqualTo(1);
    assertThat(parse(environment).settings().nodeRank()).isZero();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--nproc 0 | --nproc must be a whole number from 1 to 1024, auto, cpu or gpu, but was '0'",
        "--nproc_per_node two | --nproc_per_node must be a whole number from 1 to 1024",
        "--nproc 1025 | --nproc must be a whole number from 1 to 1024",
        "--nproc xpu | --nproc xpu: ranks run on CPUs or NVIDIA GPUs",
        "--nnodes 0 | --nnodes must be a whole number from 1 to 65536, but was '0'",
        "--nnodes 1:2:3 | --nnodes must be a whole number from 1 to 65536, but was '1:2:3'",
        "--nnodes 1:4 | --nnodes 1:4: the number of hosts is fixed for a launch",
        "--nnodes 2 --master h:1 | --node-rank is needed to tell the 2 hosts apart",
        "--ips 10.9.9.1,10.9.9.2 | --node-rank is needed to tell the 2 hosts apart",
        "--nnodes 2 --node-rank 0 | 2 hosts need the address of host 0 (--master-addr)",
        "--nnodes 2 --node-rank 2 --master h:1 | --node-rank must be a whole number from 0 to 1",
        "--nnodes 3 --ips a,b --rank 0 | 2 hosts are listed, but the number of hosts is 3",
        "--ips a,,b --rank 0 | --ips must be hosts separated by commas, but was 'a,,b'",
        "--standalone --nnodes 2 --rank 0 --master h:1 | --standalone is for one host",
        "--master-addr h:1 | --master-addr must be a host name or address without port",
        "--master-port 70000 | --master-port must be a port from 1 to 65535, but was '70000'",
        "--master etcd://h:1 | --master must be a host or host:port, but was 'etcd://h:1'",
        "--master h:1 --master-addr g | name different masters; give one",
        "--master h:1 --master-port 2 | --master must not contradict --master-port",
        "--nnodes 2 --rank 0 --rdzv-endpoint h:0 | several hosts cannot agree on any free port",
        "--nnodes 2 --rank 0 --master-addr h --master-port 0 | several hosts cannot agree",
        "--rdzv-backend etcd | --rdzv-backend must be static or c10d, but was 'etcd'",
        "--backend mpi | --backend must be auto, gloo or nccl, but was 'mpi'",
        "--secure --insecure | --secure and --insecure contradict each other; give one",
        "--secure --backend nccl --nnodes 2 | --secure: NCCL between hosts cannot be encrypted",
        "--secure --tls-cert c | --tls-cert, --tls-key and --tls-ca go together: give all three",
        "--tls-cert c --tls-key k --tls-ca a | are for --secure: give it as well",
        "--secure --tls-cert none --tls-key k --tls-ca a | --secure: none does not exist",
        "--grace-period 8 | --grace-period must be a whole number of seconds from 0 to 7",
        "--nproc | --nproc needs a value",
        "--nproc --json | --nproc needs a value",
        "--set | --set needs a value",
        "--standalone=1 | --standalone=1 takes no value",
        "--nprocs 2 | unknown option --nprocs; did you mean --nproc?",
        "--node_rnk 2 | unknown option --node_rnk; did you mean --node-rank?",
        "--jsno | unknown option --jsno; did you mean --json?",
        "--utterly-different-thing | unknown option --utterly-different-thing",
      })
  void refusesWhatMakesNoSense(String line, String problem) {
    assertThat(problems(Map.of(), line)).anySatisfy(it -> assertThat(it).contains(problem));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--elastic_level 1 | --elastic_level 1: restarts are asked for by number",
        "--numa-binding node | --numa-binding node: ranks are not bound to NUMA nodes",
        "--local-ranks-filter 1 | standard output shows the first rank alone",
        "--local-addr 10.0.0.1 | the address of this host is not chosen here",
        "--signals-to-handle SIGUSR1 | the signals that end a launch are fixed",
        "-m | -m: a program is named by its Java class; give --main CLASS",
        "--module | a program is named by its Java class",
        "--run-path | a program is named by its Java class",
        "--xpus 0 | ranks run on CPUs or NVIDIA GPUs",
        "--run_mode ps | there are no parameter servers",
        "--servers a:1 | there are no parameter servers",
        "--workers a:1 | there are no parameter servers",
        "--heter_workers a:1 | there are no parameter servers",
        "--worker_num 1 | there are no parameter servers",
        "--server_num 1 | there are no parameter servers",
        "--heter_worker_num 1 | there are no parameter servers",
        "--trainers a:1 | there are no parameter servers",
        "--trainer_num 1 | there are no parameter servers",
        "--http_port 1 | there are no parameter servers",
        "--elastic_server a:1 | the number of hosts is fixed for a launch",
        "--np 2 | the number of hosts is fixed for a launch",
        "--scale 1 | the number of hosts is fixed for a launch",
        "--force True | the number of hosts is fixed for a launch",
        "--host h | the number of hosts is fixed for a launch",
        "--log_overwrite False | log files are written anew by every launch",
      })
  void refusesWhatItCannotKeep(String line, String problem) {
    assertThat(problems(Map.of(), line))
        .singleElement()
        .satisfies(it -> assertThat(it).contains(problem));
  }

  static Stream<String> refusedNames() {
    return FlagTable.all()
        .filter(flag -> flag.rule() instanceof Flag.Rule.Refused)
        .flatMap(flag -> flag.names().stream().map(name -> flag.takesValue() ? name + " ?" : name));
  }

  @ParameterizedTest
  @MethodSource("refusedNames")
  void refusesEveryNameOfWhatItCannotKeep(String line) {
    assertThat(problems(Map.of(), line)).hasSize(1);
  }

  @Test
  void readsWhatToDoAboutFailures() {
    FailurePolicy policy =
        parse("--max_restart 3 --stop-grace-period 60 --hang-timeout 0 --job-key-file k")
            .settings()
            .policy();

    assertThat(policy)
        .isEqualTo(
            new FailurePolicy(3, Duration.ofSeconds(60), Duration.ZERO, Optional.of(Path.of("k"))));
    assertThat(parse(Map.of("no key", "")).settings().policy()).isEqualTo(FailurePolicy.defaults());
    assertThat(parse(Map.of("FLOTILLA_JOB_KEY_FILE", "e")).settings().policy().jobKey())
        .contains(Path.of("e"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--max-restarts 1001 | --max-restarts must be a whole number from 0 to 1000",
        "--stop-grace-period 0 | --stop-grace-period must be a whole number of seconds from 1",
        "--hang-timeout 4 | --hang-timeout must be 0 for never, or a whole number of seconds from"
            + " 5",
      })
  void refusesPoliciesOutOfRange(String line, String problem) {
    assertThat(problems(Map.of(), line)).singleElement().asString().startsWith(problem);
  }

  @Test
  void refusesVariablesItCannotKeepByTheirName() {
    assertThat(problems(Map.of("PET_MAX_RESTARTS", "-2", "PET_NPROC_PER_NODE", "no"), ""))
        .hasSize(2)
        .anyMatch(problem -> problem.startsWith("PET_MAX_RESTARTS must be a whole number from 0"))
        .anyMatch(problem -> problem.startsWith("PET_NPROC_PER_NODE must be a whole number"));
  }

  @Test
  void listsAllProblemsTogether() {
    assertThat(problems(Map.of(), "--nproc 0 --gpus 1 --bogus --master-port x")).hasSize(4);
  }

  @ParameterizedTest
  @CsvSource({
    "--run_mode collective",
    "--max-restarts 0",
    "--max_restart=0",
    "--elastic_level -1",
    "--log_overwrite True",
    "--local-ranks-filter 0",
    "--numa-binding none",
  })
  void acceptsWhatHappensAnyway(String line) {
    assertThat(parse(line).warnings()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--rdzv-conf timeout=3 | --rdzv-conf has no effect",
        "--monitor-interval 0.1 | --monitor-interval has no effect",
        "--start-method spawn | --start-method has no effect",
        "--redirects 3 | --redirects has no effect",
        "-r 3 | -r has no effect: the output of every rank goes to workerlog.N",
        "--tee 3 | --tee has no effect",
        "-t 0:1,1:2 | -t has no effect",
        "--no-python | --no-python has no effect",
        "--elastic_timeout 3 | --elastic_timeout has no effect",
        "--start_port 6070 | --start_port has no effect",
        "--gloo_port 6767 | --gloo_port has no effect",
        "--log_level INFO | --log_level has no effect",
        "--job-key-file k | --job-key-file has no effect: it is for the launchers of several hosts",
        "--insecure | --insecure has no effect: one host makes a key by itself",
        "--secure | --secure has no effect: one host opens nothing beyond loopback",
      })
  void warnsOfWhatHasNoEffect(String line, String warning) {
    assertThat(parse(line).warnings())
        .singleElement()
        .satisfies(it -> assertThat(it).contains(warning));
  }

  @Test
  void severalHostsNeedAKeyUnlessTheyShallBeInsecure() {
    var line = "--nnodes 2 --node-rank 0 --master-addr a --master-port 5";
    var none = Map.of("no key", "");

    assertThat(problems(none, line))
        .singleElement()
        .asString()
        .startsWith("2 hosts need a key")
        .contains("--job-key-file", "--insecure");
    assertThat(parse(none, words(line + " --insecure")).settings().policy().insecure()).isTrue();
    assertThat(parse(none, words("--nproc 2")).settings().policy().insecure()).isFalse();
  }

  @Test
  void readsWhatSecureHostsShow() {
    var line = "--nnodes 2 --node-rank 0 --master-addr a --master-port 5 --job-key-file ";
    var made = parse(line + keys.resolve("k") + " --secure").settings();
    assertThat(made.policy().secure()).contains(new SecureMode(Optional.empty()));
    assertThat(made.isSecure()).isTrue();
    assertThat(made.arguments()).containsEntry("secure", "TLS 1.3, certificate made for the job");
    assertThat(parse(line + keys.resolve("k")).settings().isSecure()).isFalse();
  }

  @Test
  void warnsOfNoKeyThatSeveralHostsUse() {
    var line = "--nnodes 2 --node-rank 0 --master-addr a --master-port 5 --job-key-file ";
    assertThat(parse(line + keys.resolve("k")).warnings()).isEmpty();
  }

  @Test
  void refusesAKeyFileThatIsMissingTooShortOrReadByOthers() throws IOException {
    Path open = newKey("open", JobKey.newText());
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r-----"));
    newKey("short", "secret");

    assertThat(keyProblem("none"))
        .startsWith(
            "the job's key: " + keys.resolve("none") + " does not exist; make one (openssl");
    assertThat(keyProblem("open")).contains("can be read by others", "chmod 600 " + open);
    assertThat(keyProblem("short")).contains("holds 6 characters", "32 or more");
    assertThat(keyProblem(".")).contains("is no regular file");
    assertThat(keyProblem("/dev/fd/987"))
        .isEqualTo("the job's key: nothing is inherited as /dev/fd/987");
  }

  private static String keyProblem(String name) {
    var line = "--nnodes 2 --node-rank 0 --master-addr a --master-port 5 --job-key-file ";
    List<String> problems = problems(Map.of(), line + keys.resolve(name));
    assertThat(problems).hasSize(1);
    return problems.getFirst();
  }

  @Test
  void describesEveryOptionThatIsASetting() {
    assertThat(LaunchFlags.described())
        .allSatisfy(option -> assertThat(option.doc()).endsWith("."))
        .extracting(LaunchFlags.Described::names)
        .contains("--nproc-per-node, --nproc N|auto|gpu", "--standalone", "--job-key-file FILE")
        .hasSize(28);
  }
}
