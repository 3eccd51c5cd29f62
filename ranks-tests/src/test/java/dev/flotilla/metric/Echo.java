package dev.flotilla.metric;

import dev.flotilla.model.Initializer;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Shape;
import dev.flotilla.model.Weights;
import java.util.List;

/** Gives back what it is given, so that outputs are known. */
record Echo(Objective objective) implements Model {

  @Override
  public String name() {
    return "echo";
  }

  @Override
  public List<Segment> segments() {
    return List.of(
        new Segment() {
          @Override
          public String name() {
            return "echo";
          }

          @Override
          public List<ParameterSpec> parameters() {
            return List.of(
                new ParameterSpec(
                    "unused", Shape.of(1), ParameterSpec.Kind.WEIGHT, new Initializer.Constant(0)));
          }

          @Override
          public Forward bind(Weights weights) {
            return (input, _) -> input;
          }
        });
  }
}
