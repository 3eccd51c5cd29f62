package dev.flotilla.world;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Reads and writes the environment variables that tell a process its rank.
 *
 * <p>Names are looked for in this order, and the first family that is present wins: PyTorch's
 * ({@code RANK}, {@code WORLD_SIZE}, ...), Paddle's, Slurm's, Open MPI's, then MPICH's and Intel
 * MPI's. {@code LOCAL_RANK}, {@code LOCAL_WORLD_SIZE}, {@code GROUP_RANK}, {@code
 * GROUP_WORLD_SIZE}, {@code MASTER_ADDR} and {@code MASTER_PORT} complete every family.
 */
public final class RankEnvironment {

  /** File in a private folder through which the ranks of one host meet. */
  public static final String RENDEZVOUS_FILE = "FLOTILLA_RENDEZVOUS_FILE";

  /** File to which a failing rank writes its cause. */
  public static final String ERROR_FILE = "FLOTILLA_ERROR_FILE";

  /** Process id of the launcher; a rank ends when that process does. */
  public static final String LAUNCHER_PID = "FLOTILLA_LAUNCHER_PID";

  /** Process id of a program that has started a launcher; the launcher ends when it does. */
  public static final String PARENT_PID = "FLOTILLA_PARENT_PID";

  /** Random name by which the launcher finds every process its ranks started. */
  public static final String LAUNCH_ID = "FLOTILLA_LAUNCH_ID";

  /** Private folder through which a rank finds its launcher's control channel. */
  public static final String CONTROL_FOLDER = "FLOTILLA_CONTROL_FOLDER";

  /** How often the job was restarted before this process was started. */
  public static final String RESTART = "FLOTILLA_RESTART";

  /** File with the key that the launchers of several hosts share. */
  public static final String JOB_KEY_FILE = "FLOTILLA_JOB_KEY_FILE";

  /** Columns of the launcher's terminal; set only where a progress line may be drawn. */
  public static final String TERMINAL = "FLOTILLA_TERMINAL";

  /** Numbers of the GPUs that the ranks of a host take, the first rank the first. */
  public static final String GPUS = "FLOTILLA_GPUS";

  /** What carries tensors between GPUs: auto, gloo or nccl. */
  public static final String BACKEND = "FLOTILLA_BACKEND";

  /** Set where ranks compare each collective before they carry it out. */
  public static final String CHECK_COLLECTIVES = "FLOTILLA_CHECK_COLLECTIVES";

  /**
   * Loopback address that stands for this host, where connections between ranks of different hosts
   * are carried by launchers.
   */
  public static final String RELAY_ADDRESS = "FLOTILLA_RELAY_ADDRESS";

  /** Threads of an OpenMP region. */
  public static final String OMP_NUM_THREADS = "OMP_NUM_THREADS";

  /**
   * Most heaps that the C library has for a process's threads. What a thread frees is kept for the
   * threads of its heap: gathered parameters and gradients, which exchanging threads allocate, take
   * their memory several times where there are many.
   */
  public static final String MALLOC_ARENA_MAX = "MALLOC_ARENA_MAX";

  /** How many where the user has not said it: with two, memory depends on who shares which. */
  public static final String MALLOC_ARENAS = "1";

  /** What the C library is told of its heap. */
  public static final String GLIBC_TUNABLES = "GLIBC_TUNABLES";

  /**
   * Lets small blocks that are freed join the free memory beside them at once. The C library would
   * keep them apart for the thread that freed them: where one thread allocates and another frees,
   * as in exchanges, they cut the room that large tensors need, and the heap grows for many
   * updates.
   */
  public static final String JOINED_BLOCKS = "glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0";

  /** Index of a pod of an indexed Kubernetes job; a host number to the launcher. */
  public static final String JOB_COMPLETION_INDEX = "JOB_COMPLETION_INDEX";

  /** Start of the names that give defaults for the launcher's flags. */
  public static final String FLAG_PREFIX = "PET_";

  /** Port of the rendezvous where only the host is given. */
  public static final int DEFAULT_MASTER_PORT = 29500;

  static final String RANK = "RANK";
  static final String WORLD_SIZE = "WORLD_SIZE";
  static final String LOCAL_RANK = "LOCAL_RANK";
  static final String LOCAL_WORLD_SIZE = "LOCAL_WORLD_SIZE";
  static final String GROUP_RANK = "GROUP_RANK";
  static final String GROUP_WORLD_SIZE = "GROUP_WORLD_SIZE";
  static final String MASTER_ADDR = "MASTER_ADDR";
  static final String MASTER_PORT = "MASTER_PORT";
  static final String USE_AGENT_STORE = "TORCHELASTIC_USE_AGENT_STORE";

  static final String PADDLE_TRAINER_ID = "PADDLE_TRAINER_ID";
  static final String PADDLE_TRAINERS_NUM = "PADDLE_TRAINERS_NUM";
  static final String PADDLE_GLOBAL_RANK = "PADDLE_GLOBAL_RANK";
  static final String PADDLE_GLOBAL_SIZE = "PADDLE_GLOBAL_SIZE";
  static final String PADDLE_RANK_IN_NODE = "PADDLE_RANK_IN_NODE";
  static final String PADDLE_LOCAL_RANK = "PADDLE_LOCAL_RANK";
  static final String PADDLE_LOCAL_SIZE = "PADDLE_LOCAL_SIZE";
  static final String PADDLE_NNODES = "PADDLE_NNODES";
  static final String PADDLE_MASTER = "PADDLE_MASTER";
  static final String PADDLE_TRAINER_ENDPOINTS = "PADDLE_TRAINER_ENDPOINTS";
  static final String PADDLE_CURRENT_ENDPOINT = "PADDLE_CURRENT_ENDPOINT";

  static final String SLURM_PROCID = "SLURM_PROCID";
  static final String SLURM_NTASKS = "SLURM_NTASKS";
  static final String SLURM_LOCALID = "SLURM_LOCALID";
  static final String SLURM_NODEID = "SLURM_NODEID";
  static final String SLURM_STEP_NUM_NODES = "SLURM_STEP_NUM_NODES";
  static final String SLURM_NNODES = "SLURM_NNODES";
  static final String SLURM_JOB_NUM_NODES = "SLURM_JOB_NUM_NODES";
  static final String SLURM_STEP_TASKS_PER_NODE = "SLURM_STEP_TASKS_PER_NODE";
  static final String SLURM_TASKS_PER_NODE = "SLURM_TASKS_PER_NODE";
  static final String SLURM_STEP_NODELIST = "SLURM_STEP_NODELIST";
  static final String SLURM_JOB_NODELIST = "SLURM_JOB_NODELIST";
  static final String SLURM_JOB_ID = "SLURM_JOB_ID";
  static final String SLURM_JOB_NAME = "SLURM_JOB_NAME";

  static final String OMPI_RANK = "OMPI_COMM_WORLD_RANK";
  static final String OMPI_SIZE = "OMPI_COMM_WORLD_SIZE";
  static final String OMPI_LOCAL_RANK = "OMPI_COMM_WORLD_LOCAL_RANK";
  static final String OMPI_LOCAL_SIZE = "OMPI_COMM_WORLD_LOCAL_SIZE";

  static final String PMI_RANK = "PMI_RANK";
  static final String PMI_SIZE = "PMI_SIZE";
  static final String MPI_LOCALRANKID = "MPI_LOCALRANKID";
  static final String MPI_LOCALNRANKS = "MPI_LOCALNRANKS";

  private static final List<String> SHOWN =
      List.of(
          RANK,
          WORLD_SIZE,
          LOCAL_RANK,
          LOCAL_WORLD_SIZE,
          GROUP_RANK,
          GROUP_WORLD_SIZE,
          MASTER_ADDR,
          MASTER_PORT,
          RENDEZVOUS_FILE,
          OMP_NUM_THREADS,
          PADDLE_TRAINER_ID,
          PADDLE_CURRENT_ENDPOINT,
          PADDLE_TRAINERS_NUM,
          PADDLE_TRAINER_ENDPOINTS);

  /** Longest endpoint list that is handed on; an environment has little room. */
  private static final int LONGEST_ENDPOINT_LIST = 120 * 1024;

  private RankEnvironment() {}

  /**
   * Reads a process's place from its environment; one without any is {@link World#solo()}.
   *
   * @throws WorldException with every problem found
   */
  public static World read(Map<String, String> environment) {
    return new EnvironmentReader(environment).read();
  }

  /**
   * Writes the variables of one rank, under every name that programs of this field read.
   *
   * <p>{@code MASTER_ADDR} and {@code MASTER_PORT} are written for a rank that meets its peers
   * through a file, too: programs may want them.
   */
  public static Map<String, String> forRank(World world, JobDescription job) {
    var variables = new LinkedHashMap<String, String>();
    writePlace(variables, world);
    variables.put(MASTER_ADDR, job.masterAddress());
    variables.put(MASTER_PORT, Integer.toString(job.masterPort()));
    if (world.rendezvous() instanceof Rendezvous.SharedFile(var file)) {
      variables.put(RENDEZVOUS_FILE, file.toString());
    }
    writeElastic(variables, world, job);
    writePaddle(variables, world, job);
    return variables;
  }

  /** Returns the GPUs that the ranks of this host take; empty where nobody has said. */
  public static List<Integer> gpus(Map<String, String> environment) {
    var stated = environment.getOrDefault(GPUS, "");
    return stated.matches("[0-9]{1,2}(,[0-9]{1,2})*")
        ? Stream.of(stated.split(",", -1)).map(Integer::valueOf).toList()
        : List.of();
  }

  /** Returns the rank as written in an environment, for reports; "?" where none is. */
  public static String rankIn(Map<String, String> environment) {
    return environment.getOrDefault(RANK, "?");
  }

  /** Returns the folder of the launcher's control channel; empty without a launcher. */
  public static Optional<Path> controlFolder(Map<String, String> environment) {
    return Optional.ofNullable(environment.get(CONTROL_FOLDER)).map(Path::of);
  }

  /** Tells whether a process is a rank itself rather than one that a rank has started. */
  public static boolean isStartedByLauncher(
      Map<String, String> environment, ProcessHandle process) {
    String launcher = environment.getOrDefault(LAUNCHER_PID, "");
    return process.parent().filter(it -> Long.toString(it.pid()).equals(launcher)).isPresent();
  }

  /** Returns the rank that a launcher has given a process. */
  public static int launchedRank(Map<String, String> environment) {
    return Integer.parseInt(environment.getOrDefault(RANK, "0"));
  }

  /** Returns how often a launcher had restarted the job before it started a process. */
  public static int restart(Map<String, String> environment) {
    return Integer.parseInt(environment.getOrDefault(RESTART, "0"));
  }

  /** Tells whether the ranks of this process compare each collective before they carry it out. */
  public static boolean checksCollectives() {
    return System.getenv().getOrDefault(CHECK_COLLECTIVES, "").equals("1");
  }

  /** Tells whether a process is one of several ranks; one that cannot know is not. */
  public static boolean isOneOfSeveral(Map<String, String> environment) {
    try {
      return !read(environment).isSolo();
    } catch (WorldException e) {
      return false;
    }
  }

  /** Removes what a launcher inherited but its ranks must not take for their own. */
  public static void forget(Map<String, String> environment) {
    List.of(
            RENDEZVOUS_FILE,
            GPUS,
            ERROR_FILE,
            TERMINAL,
            CONTROL_FOLDER,
            RESTART,
            JOB_KEY_FILE,
            RELAY_ADDRESS,
            PADDLE_CURRENT_ENDPOINT,
            PADDLE_TRAINER_ENDPOINTS)
        .forEach(environment::remove);
  }

  /** Returns the variables worth showing to people, in the given order, of those a rank has. */
  public static Map<String, String> shown(Map<String, String> variables) {
    var shown = new LinkedHashMap<String, String>();
    for (String name : SHOWN) {
      if (variables.containsKey(name)) {
        shown.put(name, variables.getOrDefault(name, ""));
      }
    }
    return shown;
  }

  private static void writePlace(Map<String, String> variables, World world) {
    put(variables, RANK, world.rank());
    put(variables, WORLD_SIZE, world.size());
    put(variables, LOCAL_RANK, world.localRank());
    put(variables, LOCAL_WORLD_SIZE, world.localSize());
    put(variables, GROUP_RANK, world.nodeRank());
    put(variables, GROUP_WORLD_SIZE, world.nodes());
  }

  private static void writeElastic(Map<String, String> variables, World world, JobDescription job) {
    variables.put("ROLE_NAME", job.role());
    put(variables, "ROLE_RANK", world.rank());
    put(variables, "ROLE_WORLD_SIZE", world.size());
    put(variables, RESTART, job.restart());
    put(variables, "TORCHELASTIC_RESTART_COUNT", job.restart());
    put(variables, "TORCHELASTIC_MAX_RESTARTS", job.maxRestarts());
    variables.put("TORCHELASTIC_RUN_ID", job.id());
    variables.put(USE_AGENT_STORE, "False");
  }

  private static void writePaddle(Map<String, String> variables, World world, JobDescription job) {
    put(variables, PADDLE_TRAINER_ID, world.rank());
    put(variables, PADDLE_TRAINERS_NUM, world.size());
    put(variables, PADDLE_GLOBAL_RANK, world.rank());
    put(variables, PADDLE_GLOBAL_SIZE, world.size());
    put(variables, PADDLE_RANK_IN_NODE, world.localRank());
    put(variables, PADDLE_LOCAL_RANK, world.localRank());
    put(variables, PADDLE_LOCAL_SIZE, world.localSize());
    put(variables, PADDLE_NNODES, world.nodes());
    variables.put(PADDLE_MASTER, HostPort.join(job.masterAddress(), job.masterPort()));
    variables.put("PADDLE_DISTRI_BACKEND", "gloo");
    variables.put("PADDLE_LOG_DIR", job.logFolder());
    writeEndpoints(variables, world, job);
  }

  private static void writeEndpoints(
      Map<String, String> variables, World world, JobDescription job) {
    String list = String.join(",", job.endpoints());
    if (job.endpoints().size() == world.size() && list.length() < LONGEST_ENDPOINT_LIST) {
      variables.put(PADDLE_CURRENT_ENDPOINT, job.endpoints().get(world.rank()));
      variables.put(PADDLE_TRAINER_ENDPOINTS, list);
    }
  }

  private static void put(Map<String, String> variables, String name, int value) {
    variables.put(name, Integer.toString(value));
  }
}
