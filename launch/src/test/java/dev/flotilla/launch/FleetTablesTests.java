package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class FleetTablesTests {

  @Test
  void printsArgumentsBetweenRules() {
    var arguments = new TreeMap<String, String>();
    arguments.put("nnodes", "1");
    arguments.put("log_dir", "log");

    assertThat(FleetTables.configuration(arguments))
        .isEqualTo(
            """
            -----------  Configuration Arguments -----------
            log_dir: log
            nnodes: 1
            ------------------------------------------------
            """);
  }

  @Test
  void printsATableOfEightySevenColumns() {
    var variables = new LinkedHashMap<String, String>();
    variables.put("RANK", "0");
    variables.put("LONG", "x".repeat(20) + "y".repeat(25));

    List<String> lines = FleetTables.environment(2, variables).lines().toList();

    assertThat(lines)
        .containsExactly(
            "Local start 2 processes. First process distributed environment info (Only For Debug):",
            "    +" + "=".repeat(87) + "+",
            "    |"
                + " ".repeat(24)
                + "Distributed Envs"
                + " ".repeat(22)
                + "Value"
                + " ".repeat(20)
                + "|",
            "    +" + "-".repeat(87) + "+",
            "    |" + " ".repeat(36) + "RANK" + " ".repeat(24) + "0" + " ".repeat(22) + "|",
            "    |" + " ".repeat(36) + "LONG" + "  ... " + "x".repeat(16) + "y".repeat(25) + "|",
            "    +" + "=".repeat(87) + "+");
  }
}
