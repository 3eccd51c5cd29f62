/** Helps tests: ranks as threads and processes, recorders and probes. */
module dev.flotilla.testkit {
  requires static transitive org.jspecify;
  requires static transitive org.junit.jupiter.api;
  requires transitive dev.flotilla.core;

  exports dev.flotilla.testkit;
  exports dev.flotilla.testkit.glue;
}
