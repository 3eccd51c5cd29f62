package dev.flotilla.world;

import java.util.List;

/**
 * What all ranks of a job share and programs may want to read.
 *
 * @param id name of the job
 * @param role name of the ranks' role
 * @param masterAddress host of rank 0
 * @param masterPort port for programs that let rank 0 serve a store
 * @param endpoints host and port for each rank in rank order; empty when hosts are not known
 * @param logFolder folder of the log files on this host
 * @param restart how often the job was restarted before
 * @param maxRestarts how often it may be restarted
 */
public record JobDescription(
    String id,
    String role,
    String masterAddress,
    int masterPort,
    List<String> endpoints,
    String logFolder,
    int restart,
    int maxRestarts) {

  /** Copies the list. */
  public JobDescription {
    endpoints = List.copyOf(endpoints);
  }
}
