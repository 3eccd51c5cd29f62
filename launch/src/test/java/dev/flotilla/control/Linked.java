package dev.flotilla.control;

/** Waits for what a rank does in the background. */
public final class Linked {

  private Linked() {}

  /** Waits until this process is connected to its launcher. */
  public static void await() throws InterruptedException {
    var link = (RankLink) JobLink.ofThisProcess();
    while (!link.isConnected()) {
      Thread.sleep(10);
    }
  }
}
