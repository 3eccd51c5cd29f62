package dev.flotilla.pass;

/** Sees to it that the parameters of a segment are there when it runs. */
public interface ParameterGate {

  /** Parameters are always there. */
  ParameterGate OPEN =
      new ParameterGate() {
        @Override
        public void enter(int segment) {}

        @Override
        public void settle() {}
      };

  /** Waits until the parameters of a segment are there; called before each of its parts runs. */
  void enter(int segment);

  /** Waits until all parameters are there, for whoever reads them outside a pass. */
  void settle();
}
