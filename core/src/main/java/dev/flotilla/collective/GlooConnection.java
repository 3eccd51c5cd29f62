package dev.flotilla.collective;

import dev.flotilla.memory.TensorScope;
import org.bytedeco.javacpp.chrono.Milliseconds;
import org.bytedeco.pytorch.GlooDeviceVector;
import org.bytedeco.pytorch.ProcessGroupGloo;

/** Connects the processes of a group by Gloo. */
final class GlooConnection {

  private GlooConnection() {}

  /**
   * Connects all ranks of a roster with each other; all of them must be there.
   *
   * @param listener that knows the address at which this rank listens
   * @param beforeConnecting runs when this rank listens, before it connects to anybody
   */
  static NativeGroup open(
      MeetingPoint store,
      String prefix,
      Roster roster,
      int rank,
      GlooListener listener,
      CollectiveSettings settings,
      Runnable beforeConnecting) {
    var address = listener.address().getHostAddress();
    try (var _ = TensorScope.open();
        var _ = NativeOutput.held()) {
      var options =
          ProcessGroupGloo.Options.create(new Milliseconds(settings.joinTimeout().toMillis()));
      var device = listener.begins(() -> ProcessGroupGloo.createDeviceForHostname(address));
      beforeConnecting.run();
      options.devices(new GlooDeviceVector(device)).threads(settings.threads());
      var group = new ProcessGroupGloo(store.part(prefix), rank, roster.size(), options);
      return new NativeGroup(TensorScope.keep(group), roster, _ -> {});
    } catch (RendezvousException e) {
      throw e;
    } catch (RuntimeException e) {
      throw new RendezvousException(
          ("%s met the other ranks at %s, but could not connect to all of them from %s (%s); check"
                  + " that no firewall is in between, and GLOO_SOCKET_IFNAME")
              .formatted(roster.self(), store.place(), address, NativeText.firstLine(e)),
          e);
    }
  }
}
