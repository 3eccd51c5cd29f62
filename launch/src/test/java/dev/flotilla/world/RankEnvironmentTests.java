package dev.flotilla.world;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class RankEnvironmentTests {

  private static final Rendezvous FILE = new Rendezvous.SharedFile(Path.of("/run/meet"));

  private static Rendezvous tcp(String host, int port) {
    return new Rendezvous.Tcp(host, port, false);
  }

  private static World world(int[] place, Rendezvous rendezvous) {
    return new World(place[0], place[1], place[2], place[3], place[4], place[5], rendezvous);
  }

  private static int[] place(int... numbers) {
    return numbers;
  }

  /** Reads {@code A=1 B=2}. */
  private static Map<String, String> environment(String text) {
    var environment = new LinkedHashMap<String, String>();
    for (String entry : text.isEmpty() ? new String[0] : text.split(" ")) {
      environment.put(
          entry.substring(0, entry.indexOf('=')), entry.substring(entry.indexOf('=') + 1));
    }
    return environment;
  }

  static Stream<Arguments> worlds() {
    return Stream.of(
        Arguments.of("", World.solo()),
        Arguments.of("MASTER_ADDR=h MASTER_PORT=1", World.solo()),
        Arguments.of("WORLD_SIZE=1", World.solo()),
        Arguments.of("WORLD_SIZE=1 RANK=0 MASTER_PORT=1", World.solo()),
        Arguments.of(
            "RANK=1 WORLD_SIZE=2 FLOTILLA_RENDEZVOUS_FILE=/run/meet MASTER_ADDR=far",
            world(place(1, 2, 1, 2, 0, 1), FILE)),
        Arguments.of(
            "RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1",
            world(place(1, 2, 1, 2, 0, 1), tcp("127.0.0.1", 29500))),
        Arguments.of(
            "RANK=1 WORLD_SIZE=2 MASTER_ADDR=::1 MASTER_PORT=7",
            world(place(1, 2, 1, 2, 0, 1), tcp("::1", 7))),
        Arguments.of(
            "RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4 GROUP_RANK=1 GROUP_WORLD_SIZE=2"
                + " MASTER_ADDR=node-0 MASTER_PORT=1234",
            world(place(5, 8, 1, 4, 1, 2), tcp("node-0", 1234))),
        Arguments.of(
            "RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4 MASTER_ADDR=node-0",
            world(place(5, 8, 1, 4, 1, 2), tcp("node-0", 29500))),
        Arguments.of(
            "RANK=1 WORLD_SIZE=2 LOCAL_WORLD_SIZE=1 MASTER_ADDR=node-0",
            world(place(1, 2, 0, 1, 1, 2), tcp("node-0", 29500))),
        Arguments.of(
            "RANK=1 WORLD_SIZE=2 GROUP_WORLD_SIZE=2 MASTER_ADDR=node-0",
            world(place(1, 2, 0, 1, 1, 2), tcp("node-0", 29500))),
        Arguments.of(
            "RANK=2 WORLD_SIZE=3 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 GROUP_RANK=1 GROUP_WORLD_SIZE=2"
                + " MASTER_ADDR=node-0",
            world(place(2, 3, 0, 1, 1, 2), tcp("node-0", 29500))),
        Arguments.of(
            "RANK=0 WORLD_SIZE=2 MASTER_ADDR=localhost TORCHELASTIC_USE_AGENT_STORE=True",
            world(place(0, 2, 0, 2, 0, 1), new Rendezvous.Tcp("localhost", 29500, true))),
        Arguments.of(
            "RANK=0 WORLD_SIZE=2 MASTER_ADDR=localhost PADDLE_TRAINER_ID=1 SLURM_PROCID=1",
            world(place(0, 2, 0, 2, 0, 1), tcp("localhost", 29500))),
        Arguments.of(
            "PADDLE_TRAINER_ID=1 PADDLE_TRAINERS_NUM=2 PADDLE_RANK_IN_NODE=1 SLURM_PROCID=0"
                + " PADDLE_TRAINER_ENDPOINTS=127.0.0.1:6070,127.0.0.1:6071",
            world(place(1, 2, 1, 2, 0, 1), tcp("127.0.0.1", 6070))),
        Arguments.of(
            "PADDLE_GLOBAL_RANK=3 PADDLE_GLOBAL_SIZE=4 PADDLE_LOCAL_RANK=1 PADDLE_LOCAL_SIZE=2"
                + " PADDLE_NNODES=2 PADDLE_MASTER=10.0.0.1:8000",
            world(place(3, 4, 1, 2, 1, 2), tcp("10.0.0.1", 8000))),
        Arguments.of(
            "SLURM_PROCID=5 SLURM_NTASKS=6 SLURM_LOCALID=1 SLURM_NODEID=2 SLURM_NNODES=3"
                + " SLURM_TASKS_PER_NODE=2(x3) SLURM_JOB_NODELIST=host[5-7] SLURM_JOB_ID=1234567",
            world(place(5, 6, 1, 2, 2, 3), tcp("host5", 19567))),
        Arguments.of(
            "SLURM_PROCID=2 SLURM_NTASKS=3 SLURM_LOCALID=0 SLURM_NODEID=1 SLURM_NNODES=2"
                + " SLURM_TASKS_PER_NODE=2,1 SLURM_JOB_NODELIST=a,b SLURM_JOB_ID=42",
            world(place(2, 3, 0, 1, 1, 2), tcp("a", 15042))),
        Arguments.of(
            "SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_LOCALID=1 SLURM_NODEID=0 SLURM_NNODES=1"
                + " SLURM_JOB_NODELIST=a MASTER_PORT=99 OMPI_COMM_WORLD_RANK=7",
            world(place(1, 2, 1, 2, 0, 1), tcp("a", 99))),
        Arguments.of("SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_JOB_NAME=bash", World.solo()),
        Arguments.of("SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_JOB_NAME=interactive", World.solo()),
        Arguments.of(
            "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1"
                + " OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_COMM_WORLD_NODE_RANK=1 MASTER_ADDR=n0",
            world(place(3, 4, 1, 2, 1, 2), tcp("n0", 29500))),
        Arguments.of(
            "PMI_RANK=1 PMI_SIZE=2 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2 MASTER_ADDR=n0",
            world(place(1, 2, 1, 2, 0, 1), tcp("n0", 29500))),
        Arguments.of(
            "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=0"
                + " OMPI_COMM_WORLD_LOCAL_SIZE=2 GROUP_RANK=1 MASTER_ADDR=n0",
            world(place(1, 4, 0, 2, 1, 2), tcp("n0", 29500))));
  }

  @ParameterizedTest
  @MethodSource("worlds")
  void readsThePlaceOfARank(String environment, World expected) {
    assertThat(World.join(environment(environment))).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "RANK=x WORLD_SIZE=2 MASTER_ADDR=h"
            + " | RANK must be a whole number of 0 or more, but was 'x'",
        "RANK=-1 WORLD_SIZE=2 MASTER_ADDR=h | RANK must be a whole number of 0 or more",
        "RANK= WORLD_SIZE=2 MASTER_ADDR=h | RANK must be a whole number of 0 or more, but was ''",
        "RANK=2 WORLD_SIZE=2 MASTER_ADDR=h | RANK must be less than WORLD_SIZE=2, but was '2'",
        "RANK=1 WORLD_SIZE=1 | RANK must be less than WORLD_SIZE=1, but was '1'",
        "RANK=1 MASTER_ADDR=h | WORLD_SIZE is not set: RANK is; set both or neither",
        "WORLD_SIZE=2 MASTER_ADDR=h | RANK is not set: WORLD_SIZE is; give each process its own",
        "WORLD_SIZE=0 RANK=0 | WORLD_SIZE must be a whole number of 1 or more, but was '0'",
        "WORLD_SIZE=99999999999 RANK=0 | WORLD_SIZE must be a whole number of 1 or more",
        "RANK=0 WORLD_SIZE=2 | MASTER_ADDR is not set: several ranks need a meeting point",
        "RANK=0 WORLD_SIZE=2 MASTER_PORT=5 | MASTER_ADDR is not set",
        "RANK=0 WORLD_SIZE=2 MASTER_ADDR=h:1 | MASTER_ADDR must be a host name or address",
        "RANK=0 WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=65536"
            + " | MASTER_PORT must be a port from 1 to 65535, but was '65536'",
        "RANK=0 WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=0 | MASTER_PORT must be a port",
        "RANK=0 WORLD_SIZE=2 FLOTILLA_RENDEZVOUS_FILE=meet"
            + " | FLOTILLA_RENDEZVOUS_FILE must be an absolute path, but was 'meet'",
        "RANK=0 WORLD_SIZE=2 GROUP_WORLD_SIZE=2 FLOTILLA_RENDEZVOUS_FILE=/meet"
            + " | FLOTILLA_RENDEZVOUS_FILE serves one host alone",
        "RANK=0 WORLD_SIZE=4 MASTER_ADDR=h | LOCAL_RANK is not set: the ranks are on several hosts",
        "RANK=0 WORLD_SIZE=4 MASTER_ADDR=h | LOCAL_WORLD_SIZE is not set",
        "RANK=0 WORLD_SIZE=4 LOCAL_RANK=3 LOCAL_WORLD_SIZE=2 MASTER_ADDR=h"
            + " | GROUP_RANK is not set: ranks are not numbered host by host",
        "RANK=0 WORLD_SIZE=4 LOCAL_RANK=2 LOCAL_WORLD_SIZE=2 GROUP_RANK=0 MASTER_ADDR=h"
            + " | LOCAL_RANK must be less than 2, the ranks of this host, but was '2'",
        "RANK=0 WORLD_SIZE=4 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 GROUP_RANK=2 MASTER_ADDR=h"
            + " | GROUP_RANK must be less than 2, the number of hosts, but was '2'",
        "RANK=0 WORLD_SIZE=3 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 GROUP_RANK=0 MASTER_ADDR=h"
            + " | GROUP_WORLD_SIZE is not set: hosts hold unequal numbers",
        "RANK=0 WORLD_SIZE=2 LOCAL_WORLD_SIZE=1 GROUP_WORLD_SIZE=1 MASTER_ADDR=h"
            + " | LOCAL_WORLD_SIZE must be 2, the number of ranks, on one host, but was '1'",
        "RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=4 GROUP_RANK=0 GROUP_WORLD_SIZE=2"
            + " MASTER_ADDR=h | LOCAL_WORLD_SIZE must be at most 2, the number of ranks",
        "PADDLE_TRAINER_ID=0 PADDLE_TRAINERS_NUM=2 | MASTER_ADDR is not set",
        "PADDLE_TRAINER_ID=0 PADDLE_TRAINERS_NUM=2 PADDLE_MASTER=h"
            + " | PADDLE_MASTER must start with host:port, but was 'h'",
        "SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_JOB_ID=1 | MASTER_ADDR is not set",
        "SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_JOB_NODELIST=a[ SLURM_JOB_ID=1"
            + " | SLURM_JOB_NODELIST must be a list of hosts such as host[5-9,12], but was 'a['",
        "SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_JOB_NODELIST=a SLURM_JOB_ID=x"
            + " | SLURM_JOB_ID must be a whole number, but was 'x'",
        "SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_JOB_NODELIST=a | SLURM_JOB_ID is not set",
        "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 | MASTER_ADDR is not set",
        "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=0"
            + " OMPI_COMM_WORLD_LOCAL_SIZE=2 MASTER_ADDR=h | GROUP_RANK is not set",
      })
  void refusesContradictions(String environment, String problem) {
    assertThatThrownBy(() -> World.join(environment(environment)))
        .isInstanceOfSatisfying(
            WorldException.class, e -> assertThat(e.exitCode()).isEqualTo(ExitCodes.USAGE))
        .hasMessageContaining(problem);
  }

  @Test
  void listsAllProblemsTogether() {
    assertThatThrownBy(
            () ->
                World.join(
                    environment("RANK=x WORLD_SIZE=y MASTER_ADDR=a/b MASTER_PORT=z LOCAL_RANK=w")))
        .hasMessage(
            """
            the environment does not tell this process its place:
              1. WORLD_SIZE must be a whole number of 1 or more, but was 'y'
              2. RANK must be a whole number of 0 or more, but was 'x'
              3. MASTER_PORT must be a port from 1 to 65535, but was 'z'
              4. MASTER_ADDR must be a host name or address without port, but was 'a/b'
              5. LOCAL_RANK must be a whole number of 0 or more, but was 'w'\
            """);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "host[5-9,12] | host5",
        "a-[001-004] | a-001",
        "alpha,beta | alpha",
        "single | single",
        "n[3],m[1-2] | n3",
        "rack[1-2]n[03-04].local,x | rack1n03.local",
        "[1-2] | 1",
      })
  void findsTheFirstHostOfASlurmList(String list, String host) {
    assertThat(Slurm.firstHost(list)).contains(host);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"a[", "a]b", "a b", "a[x-y]", "','"})
  void findsNoHostInABrokenSlurmList(String list) {
    assertThat(Slurm.firstHost(list)).isEmpty();
  }

  @Test
  void writesWhatItReads() {
    World world = world(place(5, 8, 1, 4, 1, 2), tcp("node-0", 1234));
    var job = new JobDescription("job", "trainer", "node-0", 1234, List.of(), "/log", 2, 3);

    Map<String, String> variables = RankEnvironment.forRank(world, job);

    assertThat(World.join(variables)).isEqualTo(world);
    assertThat(variables)
        .containsEntry("RANK", "5")
        .containsEntry("WORLD_SIZE", "8")
        .containsEntry("LOCAL_RANK", "1")
        .containsEntry("LOCAL_WORLD_SIZE", "4")
        .containsEntry("GROUP_RANK", "1")
        .containsEntry("GROUP_WORLD_SIZE", "2")
        .containsEntry("ROLE_NAME", "trainer")
        .containsEntry("ROLE_RANK", "5")
        .containsEntry("ROLE_WORLD_SIZE", "8")
        .containsEntry("MASTER_ADDR", "node-0")
        .containsEntry("MASTER_PORT", "1234")
        .containsEntry("FLOTILLA_RESTART", "2")
        .containsEntry("TORCHELASTIC_RESTART_COUNT", "2")
        .containsEntry("TORCHELASTIC_MAX_RESTARTS", "3")
        .containsEntry("TORCHELASTIC_RUN_ID", "job")
        .containsEntry("TORCHELASTIC_USE_AGENT_STORE", "False")
        .containsEntry("PADDLE_TRAINER_ID", "5")
        .containsEntry("PADDLE_TRAINERS_NUM", "8")
        .containsEntry("PADDLE_MASTER", "node-0:1234")
        .doesNotContainKeys("FLOTILLA_RENDEZVOUS_FILE", "PADDLE_TRAINER_ENDPOINTS");
  }

  @Test
  void writesTheRendezvousFileAndTheEndpointsOfOneHost() {
    World world = world(place(1, 2, 1, 2, 0, 1), FILE);
    var job =
        new JobDescription(
            "job", "default", "127.0.0.1", 9, List.of("a:6070", "a:6071"), "/log", 0, 0);

    Map<String, String> variables = RankEnvironment.forRank(world, job);

    assertThat(World.join(variables)).isEqualTo(world);
    assertThat(variables)
        .containsEntry("FLOTILLA_RENDEZVOUS_FILE", "/run/meet")
        .containsEntry("PADDLE_CURRENT_ENDPOINT", "a:6071")
        .containsEntry("PADDLE_TRAINER_ENDPOINTS", "a:6070,a:6071");
  }
}
