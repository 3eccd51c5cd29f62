package dev.flotilla.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SecretsTests {

  private final Secrets secrets =
      new Secrets(
          Map.of(
              "AWS_SECRET_ACCESS_KEY", "canary-of-aws", "HF_TOKEN", "short", "HOME", "/home/me/x"));

  @Test
  void hidesWhatIsNamedLikeASecret() {
    for (var key : List.of("password", "hf_token", "apiKey", "private-key", "auth", "dbPassword")) {
      assertThat(secrets.hideIn(Map.of(key, "canary"))).containsEntry(key, Secrets.HIDDEN);
    }
    assertThat(secrets.hideIn(Map.of("password", Map.of("a", "canary"))).toString())
        .doesNotContain("canary");
  }

  @Test
  void leavesOtherNamesAlone() {
    Map<String, Object> plain =
        Map.of("tokenizer", "bert", "max_tokens", 5, "author", "me", "keys", "a", "token", 3);
    assertThat(secrets.hideIn(plain)).isEqualTo(plain);
  }

  @Test
  void hidesValuesOfTheEnvironmentWhereverTheyStand() {
    assertThat(secrets.hideIn("s3 with canary-of-aws, short, /home/me/x"))
        .isEqualTo("s3 with (hidden), short, /home/me/x");
    assertThat(secrets.hideIn(Map.of("a", List.of(Map.of("b", "x canary-of-aws")))).toString())
        .isEqualTo("{a=[{b=x (hidden)}]}");
  }

  @Test
  void hidesThePasswordInAnAddress() {
    assertThat(secrets.hideIn("https://me:canary@host/x?y=1"))
        .isEqualTo("https://(hidden)@host/x?y=1");
    assertThat(secrets.hideIn("https://host/@x")).isEqualTo("https://host/@x");
  }
}
