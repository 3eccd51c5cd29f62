package dev.flotilla.collective;

import dev.flotilla.memory.ComputeDevice;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One GPU's part in a group: all that the views of the group share. */
final class NcclMember implements AutoCloseable {

  private final Membership membership;
  private final String name;
  private final ComputeDevice device;
  private final NativeGroup group;
  private final TrafficLedger ledger;
  private final NativeOptions options;
  private final Sections sections = new Sections();
  private final List<NcclMember> subgroups = new ArrayList<>();

  /**
   * Connects the GPUs of a group whose processes are connected already.
   *
   * @param parent where what is sent is added up as well
   */
  NcclMember(
      Membership membership,
      String name,
      Roster roster,
      int rank,
      ComputeDevice device,
      @Nullable TrafficLedger parent) {
    this.membership = membership;
    this.name = name;
    this.device = device;
    this.ledger = new TrafficLedger(parent);
    this.options = new NativeOptions(membership.settings().timeout());
    this.group =
        NcclConnection.open(
            membership.store(), name + "/nccl", roster, rank, device, membership.settings());
  }

  NativeGroup group() {
    return group;
  }

  TrafficLedger ledger() {
    return ledger;
  }

  NativeOptions options() {
    return options;
  }

  /** Returns the name of the next subgroup; all ranks of this group must ask, members or not. */
  String nextSubgroup() {
    return name + "/" + sections.next("subgroup");
  }

  /** Connects the GPUs of some ranks, this one among them. */
  NcclMember subgroup(String subgroupName, int[] ranks, int place) {
    var subgroup =
        new NcclMember(
            membership, subgroupName, group.roster().of(ranks, place), place, device, ledger);
    subgroups.add(subgroup);
    return subgroup;
  }

  @Override
  public void close() {
    var closing = new Closing();
    subgroups.forEach(subgroup -> closing.close(subgroup::close));
    closing.close(group::close);
    options.close();
    closing.rethrow();
  }
}
