package dev.flotilla.config;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class RecipeSchemaTests {

  private final String text = RecipeSchema.json(TestCatalogue.catalogue());
  private final JsonNode schema = JsonMapper.shared().readTree(text);

  @Test
  void describesEveryKeyWithTypeDefaultAndMeaning() {
    assertThat(schema.get("properties").propertyNames())
        .containsExactlyElementsOf(SettingsShape.of(RunConfig.class).keyNames());
    assertThat(schema.at("/properties/seed"))
        .isEqualTo(
            json(
                """
                {"description": "Seed of initialization, sample order and dropout.",
                 "default": 42, "type": "integer"}\
                """));
    assertThat(schema.at("/properties/precision/enum"))
        .isEqualTo(json("[\"float32\",\"float64\"]"));
    assertThat(schema.at("/properties/eval/properties/every/anyOf"))
        .isEqualTo(json("[{\"enum\":[\"epoch\",\"end\"]},{\"type\":\"integer\",\"minimum\":1}]"));
    assertThat(schema.at("/properties/clip/anyOf/1")).isEqualTo(json("{\"type\":\"null\"}"));
    assertThat(schema.at("/required")).isEqualTo(json("[\"model\",\"data\",\"optimizer\"]"));
    assertThat(schema.at("/additionalProperties")).isEqualTo(json("false"));
  }

  @Test
  void choosesByName() {
    JsonNode optimizer = schema.at("/properties/optimizer/oneOf");
    assertThat(optimizer).hasSize(4);
    assertThat(optimizer.get(0)).isEqualTo(json("{\"enum\":[\"adam\",\"momentum\"]}"));
    assertThat(optimizer.at("/1/properties/name")).isEqualTo(json("{\"const\":\"adam\"}"));
    assertThat(optimizer.at("/1/properties/betas/default")).isEqualTo(json("[0.9, 0.999]"));
    assertThat(optimizer.at("/3/required")).isEqualTo(json("[\"name\",\"lr\"]"));
    assertThat(schema.at("/properties/strategy/properties").propertyNames())
        .containsExactly("gradient_merge", "recompute");
  }

  @Test
  void saysWhichKeysExcludeEachOther() {
    assertThat(schema.get("allOf"))
        .isEqualTo(
            json(
                """
                [{"oneOf": [{"required": ["batch"]}, {"required": ["global_batch"]}]},
                 {"not": {"required": ["epochs", "max_steps"]}}]\
                """));
  }

  @Test
  void isAlwaysTheSameText() {
    assertThat(RecipeSchema.json(TestCatalogue.catalogue())).isEqualTo(text);
  }

  @Test
  void escapesText() {
    String odd = "a\"b\\c\nd\u0001é";
    assertThat(JsonMapper.shared().readTree(JsonText.line(odd)).asString()).isEqualTo(odd);
  }

  private static JsonNode json(String text) {
    return JsonMapper.shared().readTree(text);
  }
}
