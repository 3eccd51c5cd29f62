package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DisagreementTests {

  @Test
  void equalFactsAreNoDisagreement() {
    assertThat(between(Map.of("lr", "0.05"), Map.of("lr", "0.05")).exists()).isFalse();
  }

  @Test
  void namesBothSides() {
    var disagreement = between(Map.of("optimizer.lr", "0.05"), Map.of("optimizer.lr", "0.01"));
    assertThat(disagreement.exists()).isTrue();
    assertThat(disagreement.describe())
        .isEqualTo("rank 0 on host0 has optimizer.lr = 0.05, rank 1 on host1 has 0.01");
  }

  @Test
  void groupsRanksThatMeanTheSame() {
    assertThat(between(Map.of("k", "a"), Map.of("k", "b"), Map.of("k", "b")).describe())
        .isEqualTo("rank 0 on host0 has k = a, ranks 1, 2 on host1, host2 have b");
  }

  @Test
  void namesFactThatOneSideLacks() {
    assertThat(between(Map.of("clip.norm", "1"), Map.of()).describe())
        .isEqualTo("rank 0 on host0 has clip.norm = 1, rank 1 on host1 has no such value");
    assertThat(between(Map.of(), Map.of("clip.norm", "1")).describe())
        .isEqualTo("rank 0 on host0 has no clip.norm, rank 1 on host1 has 1");
  }

  @Test
  void keepsToTheOrderOfTheFactsAndToTen() {
    assertThat(between(many("x"), many("y")).describe())
        .startsWith("rank 0 on host0 has fact0 = x")
        .contains("fact9 = x")
        .doesNotContain("fact10")
        .endsWith("; and 2 more");
  }

  @Test
  void survivesTravelAsText() {
    var odd = new LinkedHashMap<String, String>();
    odd.put("a\tb\nc\\", "1\r\n\t\\n");
    odd.put("empty", "");
    odd.put("umlaut", "größer ≥ 1");
    var facts = Facts.here(odd);
    assertThat(Facts.parse(facts.format())).isEqualTo(facts);
  }

  private static Map<String, String> many(String value) {
    var facts = new LinkedHashMap<String, String>();
    for (int i = 0; i < 12; i++) {
      facts.put("fact" + i, value);
    }
    return facts;
  }

  @SafeVarargs
  private static Disagreement between(Map<String, String>... statements) {
    var facts = new LinkedHashMap<Integer, Facts>();
    for (int rank = 0; rank < statements.length; rank++) {
      var own = Facts.here(statements[rank]);
      facts.put(rank, new Facts("host" + rank, own.fingerprint(), own.statements()));
    }
    return new Disagreement(facts);
  }
}
