package dev.flotilla.app;

import picocli.CommandLine.Command;

/** Groups the benchmarks that users run on their own machines. */
@Command(
    name = "bench",
    description = "Measures on this machine what techniques gain.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {"", "Example:", "  flotilla bench threads"},
    mixinStandardHelpOptions = true,
    subcommands = {BenchNetworkCommand.class, BenchAdviceCommand.class, BenchThreadsCommand.class})
final class BenchCommand {}
