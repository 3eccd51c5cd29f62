package dev.flotilla.step;

import dev.flotilla.arena.ParameterArena;

/** Looks at an update from both sides, on the training thread; must change nothing. */
public interface UpdateWatch {

  /** Nobody looks. */
  UpdateWatch NONE =
      new UpdateWatch() {
        @Override
        public void before(ParameterArena arena, long update) {}

        @Override
        public void after(ParameterArena arena, long update) {}
      };

  /**
   * Called before an update, with the gradients that it is made from.
   *
   * @param update number of the update, from 1
   */
  void before(ParameterArena arena, long update);

  /**
   * Called after an update, with the parameters that it has left.
   *
   * @param update number of the update, from 1
   */
  void after(ParameterArena arena, long update);
}
