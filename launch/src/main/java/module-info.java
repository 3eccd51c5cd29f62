/** Who a process is in its job, and how ranks are started, watched and stopped. */
module dev.flotilla.launch {
  requires static transitive org.jspecify;
  requires jdk.unsupported;

  exports dev.flotilla.control;
  exports dev.flotilla.launch;
  exports dev.flotilla.text;
  exports dev.flotilla.world;
}
