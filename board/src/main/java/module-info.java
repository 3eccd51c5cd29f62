/** Pages that show runs, live and as files. */
module dev.flotilla.board {
  requires static transitive org.jspecify;
  requires transitive dev.flotilla.launch;
  requires jdk.httpserver;
  requires tools.jackson.databind;

  exports dev.flotilla.board.live;
  exports dev.flotilla.board.page;
  exports dev.flotilla.board.run;
}
