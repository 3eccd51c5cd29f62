package dev.flotilla.collective;

import org.bytedeco.pytorch.Store;

/** Where the ranks of a job leave values for each other until they are connected, and after. */
interface MeetingPoint extends AutoCloseable {

  /** Tells whether this rank serves it, so that it ends with this rank. */
  boolean isServed();

  /** Returns where it is, for people. */
  String place();

  /** Returns the keys under one prefix. */
  KeyValueStore prefixed(String prefix);

  /** Returns how often this key was claimed, this time included. */
  long claim(String key);

  /** Returns a handle for native code that owns its part of it. */
  Store part(String prefix);

  @Override
  void close();
}
