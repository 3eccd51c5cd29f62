package dev.flotilla.config;

import dev.flotilla.data.BatchSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.world.World;

/** The samples of a micro-step, which a recipe states for each rank or over all of them. */
sealed interface BatchSize {

  /**
   * Returns the number of samples that a rank takes in a full step.
   *
   * @throws dev.flotilla.settings.ConfigException if there are too few for the ranks, or more than
   *     can be counted
   */
  int on(World world);

  /** Returns the number of samples that so many ranks take together. */
  int over(int ranks);

  /** Returns data in batches of this size. */
  BatchSource of(Dataset data);

  /**
   * As many samples on each rank.
   *
   * @param samples of one rank
   * @param origin where they were written
   */
  record PerRank(int samples, Origin origin) implements BatchSize {

    @Override
    public int on(World world) {
      if ((long) samples * world.size() > Integer.MAX_VALUE) {
        refuse(
            origin,
            "batch",
            "must be at most %d, for %d ranks, but was %d"
                .formatted(Integer.MAX_VALUE / world.size(), world.size(), samples));
      }
      return samples;
    }

    @Override
    public int over(int ranks) {
      return Math.multiplyExact(samples, ranks);
    }

    @Override
    public BatchSource of(Dataset data) {
      return BatchSource.perRank(data, samples);
    }
  }

  /**
   * Samples that ranks divide: of G samples, rank r of N takes [r·G/N, (r+1)·G/N), so that shares
   * differ by one at most.
   *
   * @param samples of all ranks
   * @param origin where they were written
   */
  record Global(int samples, Origin origin) implements BatchSize {

    @Override
    public int on(World world) {
      if (samples < world.size()) {
        refuse(
            origin,
            "global_batch",
            "must be at least %d, the number of ranks, but was %d"
                .formatted(world.size(), samples));
      }
      return before(world.rank() + 1, world.size()) - before(world.rank(), world.size());
    }

    /** Returns the samples of all ranks before one. */
    private int before(int rank, int ranks) {
      return Math.toIntExact((long) samples * rank / ranks);
    }

    @Override
    public int over(int ranks) {
      return samples;
    }

    @Override
    public BatchSource of(Dataset data) {
      return BatchSource.global(data, samples);
    }
  }

  private static void refuse(Origin origin, String key, String message) {
    var problems = new Problems();
    problems.add(origin.placeOf(key), key, message);
    problems.orThrow();
  }
}
