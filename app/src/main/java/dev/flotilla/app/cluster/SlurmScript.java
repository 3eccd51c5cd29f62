package dev.flotilla.app.cluster;

import dev.flotilla.settings.Check;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Writes an sbatch script: one launcher on each node, its ranks as its children.
 *
 * <p>Before the job's time is over, Slurm sends SIGTERM to the script, which passes it on; the
 * ranks save and end with code 10, and the script queues the job again. Whenever the script runs,
 * the run goes on from its newest checkpoint.
 *
 * @param shape how large the job is
 * @param time the longest time it may take, as Slurm writes it
 * @param flotilla the command that starts Flotilla on the nodes
 * @param arguments the recipe and its changes, as arguments
 * @param out the run's folder, on a file system that all nodes share
 * @param options further options of sbatch
 */
public record SlurmScript(
    JobShape shape,
    String time,
    String flotilla,
    List<String> arguments,
    String out,
    List<String> options) {

  /** Slurm looks at the clock once in a minute at most, and the launcher ends what hangs. */
  private static final int SIGNAL_AHEAD = 30;

  private static final String TIME = "\\d+(:\\d{2}){0,2}|\\d+-\\d{1,2}(:\\d{2}){0,2}";

  private static final String TEXT =
      """
      #!/usr/bin/env bash
      %s
      # Written by flotilla export slurm: sbatch FILE. The run goes on from its newest checkpoint whenever this starts.
      set -euo pipefail

      flotilla=%s
      out=%s
      run=(run --nproc %d --stop-grace-period %d --max-restarts %d)
      # shellcheck disable=SC2016 # a dollar in the recipe's words is theirs
      recipe=(%s)
      export OMP_NUM_THREADS=%d

      # Launchers of several nodes meet at the first one, and prove to each other that they know a key.
      if ((SLURM_JOB_NUM_NODES > 1)); then
        master=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
        key=${FLOTILLA_JOB_KEY_FILE:-}
        if [[ -z $key ]]; then
          key=$PWD/.flotilla-$SLURM_JOB_ID.key
          trap 'rm -f "$key"' EXIT
          (umask 077 && od -An -v -N32 -tx1 /dev/urandom | tr -d ' \\n' >"$key")
        fi
        run+=(--nnodes "$SLURM_JOB_NUM_NODES" --master-addr "$master" --job-key-file "$key")
        run+=(--master-port $((15000 + 2 * (SLURM_JOB_ID %% 10000))))
      fi

      is_running() { [[ $(squeue --noheader --jobs "$SLURM_JOB_ID" --format %%T) == RUNNING ]]; }

      # Whoever cancels or requeues a job signals the launchers as well; a second signal would end them unsaved.
      signalled=0 step=
      trap 'signalled=1; if [[ -n $step ]] && is_running; then scancel --signal=TERM "$SLURM_JOB_ID" || true; fi' TERM

      # Launchers end together, by themselves: srun must not signal one again because another has ended with code 10 before it.
      # shellcheck disable=SC2016 # the node's number is known on the node
      srun --ntasks "$SLURM_JOB_NUM_NODES" --ntasks-per-node 1 --cpus-per-task "$SLURM_CPUS_PER_TASK" --kill-on-bad-exit=0 --wait=60 \\
        bash -c 'exec "$@" --node-rank "$SLURM_NODEID" --log-dir "$0/log/node-$SLURM_NODEID"' "$out" \\
        "$flotilla" "${run[@]}" "${recipe[@]}" --out "$out" --resume auto &
      step=$!

      code=0
      while :; do
        signalled=0
        wait "$step" && code=0 || code=$?
        ((signalled)) || break
      done

      # 10: stopped on request, and saved. A job that was cancelled is not running any more.
      if ((code == 10)) && is_running; then
        echo "flotilla: the job is queued again, and goes on from what it has saved"
        scontrol requeue "$SLURM_JOB_ID"
      fi
      exit "$code"
      """;

  /** Checks what a script cannot hold. */
  public SlurmScript {
    arguments = List.copyOf(arguments);
    options = List.copyOf(options);
    Check.that(time.matches(TIME), "--time", "must be minutes, HH:MM:SS or D-HH:MM:SS", time)
        .and(
            options.stream().allMatch(option -> option.matches("--?[A-Za-z][^\\p{Cntrl}]*")),
            "--sbatch",
            "must be options of sbatch such as --partition=short",
            options)
        .orThrow();
  }

  /** Returns the script. */
  public String text() {
    return TEXT.formatted(
        directives(),
        quoted(flotilla),
        quoted(out),
        shape.ranks(),
        shape.graceSeconds(),
        shape.maxRestarts(),
        arguments.stream().map(SlurmScript::quoted).collect(Collectors.joining(" ")),
        shape.cpus());
  }

  private String directives() {
    List<String> all =
        new ArrayList<>(
            List.of(
                "--job-name=" + shape.name(),
                "--nodes=" + shape.hosts(),
                "--ntasks-per-node=1",
                "--cpus-per-task=" + shape.ranks() * shape.cpus(),
                "--time=" + time,
                "--signal=B:TERM@" + (shape.graceSeconds() + SIGNAL_AHEAD),
                "--requeue",
                "--open-mode=append",
                "--output=%x-%j.out"));
    all.addAll(options);
    return all.stream().map(option -> "#SBATCH " + option).collect(Collectors.joining("\n"));
  }

  /** Returns a word of bash that stands for the text, whatever it holds. */
  static String quoted(String text) {
    return text.matches("[A-Za-z0-9_./:=@%+,-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
  }
}
