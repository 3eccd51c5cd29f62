package dev.flotilla.app;

import picocli.CommandLine.IVersionProvider;

/** The version in the jar's manifest. */
final class Version implements IVersionProvider {

  static String text() {
    var version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }

  @Override
  public String[] getVersion() {
    return new String[] {"flotilla " + text() + " on Java " + Runtime.version()};
  }
}
