package dev.flotilla.launch;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Every option of the launcher: torchrun's, Fleet's, and a few of our own. */
final class FlagTable {

  static final String NPROC = "--nproc-per-node";
  static final String NNODES = "--nnodes";
  static final String NODE_RANK = "--node-rank";
  static final String MASTER_ADDR = "--master-addr";
  static final String MASTER_PORT = "--master-port";
  static final String MASTER = "--master";
  static final String IPS = "--ips";
  static final String RDZV_BACKEND = "--rdzv-backend";
  static final String RDZV_ENDPOINT = "--rdzv-endpoint";
  static final String RDZV_ID = "--rdzv-id";
  static final String STANDALONE = "--standalone";
  static final String ROLE = "--role";
  static final String LOG_DIR = "--log-dir";
  static final String GRACE = "--grace-period";
  static final String MAX_RESTARTS = "--max-restarts";
  static final String STOP_GRACE = "--stop-grace-period";
  static final String HANG_TIMEOUT = "--hang-timeout";
  static final String JOB_KEY = "--job-key-file";
  static final String INSECURE = "--insecure";
  static final String SECURE = "--secure";
  static final String TLS_CERT = "--tls-cert";
  static final String TLS_KEY = "--tls-key";
  static final String TLS_CA = "--tls-ca";
  static final String CHECK_COLLECTIVES = "--check-collectives";
  static final String GPUS = "--gpus";
  static final String BACKEND = "--backend";
  static final String MAIN = "--main";
  static final String CLASS_PATH = "--class-path";

  private static final String RESTARTS =
      "restarts are asked for by number; leave it out and give --max-restarts";
  private static final String XPUS = "ranks run on CPUs or NVIDIA GPUs; give --gpus";
  private static final String SERVERS =
      "there are no parameter servers; every rank is a worker (--run-mode collective)";
  private static final String ELASTIC =
      "the number of hosts is fixed for a launch; leave it out and give --nnodes";
  private static final String LOGS =
      "the output of every rank goes to workerlog.N, that of the first to standard output as well";

  private static final List<Flag> TORCHRUN =
      List.of(
          Flag.honoured(
              "N|auto|gpu",
              "Ranks on this host: a number, or one per core or GPU.",
              NPROC,
              "--nproc"),
          Flag.honoured("N", "Number of hosts; 1 by default.", NNODES),
          Flag.honoured("R", "Number of this host, from 0.", NODE_RANK, "--rank"),
          Flag.honoured("HOST", "Address of the first host, where rank 0 listens.", MASTER_ADDR),
          Flag.honoured("PORT", "Its port; the launchers use the next one as well.", MASTER_PORT),
          Flag.honoured("static|c10d", "How ranks meet; both mean the same here.", RDZV_BACKEND),
          Flag.honoured("HOST:PORT", "Address and port of the first host in one.", RDZV_ENDPOINT),
          Flag.honoured("ID", "Name of the job, the same on all hosts.", RDZV_ID, "--job-id"),
          Flag.honoured("", "One host, on any free port.", STANDALONE),
          Flag.honoured(
              "NAME", "Name of the ranks' role, which they find in their environment.", ROLE),
          Flag.honoured("DIR", "Folder of the ranks' logs.", LOG_DIR),
          Flag.honoured(
              "N",
              "How often all ranks start again after a failure; 0 by default.",
              MAX_RESTARTS,
              "--max-restart"),
          Flag.refused(
              "ranks are not bound to NUMA nodes; start the launcher under numactl instead",
              Set.of("none"),
              "--numa-binding"),
          Flag.refused(
              "standard output shows the first rank alone; read workerlog.N for the others",
              Set.of("0", ""),
              "--local-ranks-filter"),
          Flag.refused(
              "the address of this host is not chosen here; set GLOO_SOCKET_IFNAME",
              Set.of(),
              "--local-addr"),
          Flag.refused(
              "the signals that end a launch are fixed: SIGTERM, SIGINT and SIGHUP",
              Set.of("SIGTERM,SIGINT,SIGHUP", "SIGTERM,SIGINT,SIGHUP,SIGQUIT"),
              "--signals-to-handle"),
          Flag.noEffect("it has no settings of its own", "--rdzv-conf"),
          Flag.noEffect("the end of a rank is noticed at once", "--monitor-interval"),
          Flag.noEffect("ranks are always new processes", "--start-method"),
          Flag.noEffect(LOGS, "--redirects", "-r"),
          Flag.noEffect(LOGS, "--tee", "-t"),
          Flag.noEffectSwitch("ranks are Java programs", "--no-python"),
          Flag.refusedSwitch(
              "a program is named by its Java class; give --main CLASS", "--module", "-m"),
          Flag.refusedSwitch(
              "a program is named by its Java class; give --main CLASS", "--run-path"));

  private static final List<Flag> FLEET =
      List.of(
          Flag.honoured("HOST:PORT", "As --rdzv-endpoint.", MASTER),
          Flag.honoured("A,B,...", "Addresses of all hosts, the first host first.", IPS),
          Flag.honoured(
              "0,1,...", "GPUs of this host that ranks use.", GPUS, "--devices", "--selected-gpus"),
          Flag.refused(XPUS, Set.of(), "--xpus"),
          Flag.refused(SERVERS, Set.of("collective"), "--run-mode"),
          Flag.honoured("gloo|nccl|auto", "What carries tensors between GPUs.", BACKEND),
          Flag.refused(
              SERVERS,
              Set.of(),
              "--servers",
              "--workers",
              "--heter-workers",
              "--worker-num",
              "--server-num",
              "--heter-worker-num",
              "--trainers",
              "--trainer-num",
              "--http-port"),
          Flag.refused(
              ELASTIC, Set.of(), "--elastic-server", "--np", "--scale", "--force", "--host"),
          Flag.refused(RESTARTS, Set.of("-1", "0"), "--elastic-level"),
          Flag.noEffect("the number of hosts is fixed for a launch", "--elastic-timeout"),
          Flag.noEffect("ranks open no ports of their own", "--start-port", "--gloo-port"),
          Flag.noEffect("the launcher has one level of messages", "--log-level"),
          Flag.refused(
              "log files are written anew by every launch",
              Set.of("true", "True", "1"),
              "--log-overwrite"));

  private static final List<Flag> OURS =
      List.of(
          Flag.honoured(
              "SECONDS", "Between SIGTERM and SIGKILL of a rank; 0 to 7, 5 by default.", GRACE),
          Flag.honoured(
              "SECONDS", "How long ranks may take to save when the job is stopped.", STOP_GRACE),
          Flag.honoured("SECONDS", "How long a rank may stand still; 0 for ever.", HANG_TIMEOUT),
          Flag.honoured(
              "FILE", "Key by which launchers of several hosts know each other.", JOB_KEY),
          Flag.honoured("", "Several hosts without a key: whoever reaches them joins.", INSECURE),
          Flag.honoured("", "TLS 1.3 for everything that goes between hosts.", SECURE),
          Flag.honoured("FILE", "Certificate for --secure; one is made by default.", TLS_CERT),
          Flag.honoured("FILE", "Its private key.", TLS_KEY),
          Flag.honoured(
              "FILE", "Authorities that the other hosts are trusted by.", TLS_CA, "--tls-ca-file"),
          Flag.honoured(
              "",
              "Compares each collective of all ranks first, not only the first 32.",
              CHECK_COLLECTIVES),
          Flag.honoured("CLASS", "Runs a program of your own in place of a recipe.", MAIN),
          Flag.honoured("JARS", "Class path of that program.", CLASS_PATH, "--classpath", "-cp"));

  private FlagTable() {}

  /** Returns the options for which an environment variable may hold a default. */
  static List<Flag> withVariables() {
    return TORCHRUN;
  }

  static Stream<Flag> all() {
    return Stream.of(TORCHRUN, FLEET, OURS).flatMap(List::stream);
  }

  /** Returns the option of that name, which may be written with dashes or underscores. */
  static Optional<Flag> find(String name) {
    String dashed = dashed(name);
    return all().filter(flag -> flag.names().contains(dashed)).findFirst();
  }

  static String dashed(String name) {
    return name.startsWith("--") ? "--" + name.substring(2).replace('_', '-') : name;
  }
}
