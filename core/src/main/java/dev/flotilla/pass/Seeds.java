package dev.flotilla.pass;

/**
 * Turns the place of a computation into a seed, so that recomputation and resumption need no saved
 * state.
 */
final class Seeds {

  private Seeds() {}

  /** Mixes numbers so that neighbours give unrelated seeds. */
  static long mix(long... numbers) {
    long seed = 0x9e3779b97f4a7c15L;
    for (long number : numbers) {
      seed = (seed ^ number) * 0xbf58476d1ce4e5b9L;
      seed = (seed ^ (seed >>> 27)) * 0x94d049bb133111ebL;
      seed ^= seed >>> 31;
    }
    return seed;
  }
}
