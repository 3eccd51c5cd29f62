package dev.flotilla.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.flotilla.natives.ElfFile;
import dev.flotilla.testkit.glue.Binding;
import dev.flotilla.testkit.glue.NativeMethod;
import dev.flotilla.testkit.glue.NativeReach;
import dev.flotilla.testkit.glue.WantedNatives;
import dev.flotilla.world.Platform;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tukaani.xz.XZInputStream;

/**
 * The glue for arm64 holds what is called; checked on both platforms, in the last module, since it
 * looks at the classes of all others.
 */
@Tag("slow")
class GlueTests {

  private static final Path ROOT = Path.of("..");
  private static final Path LIST = ROOT.resolve("arm64/natives.txt");
  private static final Path PACKED =
      ROOT.resolve("arm64/src/main/resources/dev/flotilla/arm64/libjnitorch.so.xz");
  private static final long LARGEST_PACKED = 4 << 20;
  private static final String TO_RENEW =
      "add what is missing to arm64/natives.txt and run arm64/build-glue";

  private static Binding binding;
  private static WantedNatives wanted;

  @BeforeAll
  static void read() throws ReflectiveOperationException, IOException, URISyntaxException {
    var torch =
        Class.forName("org.bytedeco.pytorch.global.torch", false, GlueTests.class.getClassLoader());
    binding =
        new Binding(Path.of(torch.getProtectionDomain().getCodeSource().getLocation().toURI()));
    wanted = new WantedNatives(Files.readAllLines(LIST));
  }

  @Test
  void theListHoldsWhatFlotillaItsTestsBenchmarksAndExamplesReach() throws IOException {
    var reach = new NativeReach(binding);
    int folders = 0;
    for (var module :
        List.of(
            "core",
            "core/tests",
            "zoo",
            "zoo/tests",
            "testkit",
            "ranks-tests",
            "app",
            "app/tests",
            "examples",
            "bench")) {
      for (var kind : List.of("classes", "test-classes")) {
        var classes = ROOT.resolve(module).resolve("target").resolve(kind);
        if (Files.isDirectory(classes)) {
          reach.add(classes);
          folders++;
        }
      }
    }
    assertThat(folders).as("folders of classes").isGreaterThan(5);
    assertThat(reach.natives()).as("natives that are called").hasSizeGreaterThan(500);
    assertThat(
            reach.natives().stream()
                .filter(GlueTests::isForCpus)
                .filter(it -> !wanted.contains(it)))
        .as(TO_RENEW)
        .isEmpty();
  }

  /** CUDA's part of the binding is refused on arm64. */
  private static boolean isForCpus(NativeMethod method) {
    return Stream.of("cuda", "nccl", "global/torch_cuda", "global/torch_nccl")
        .noneMatch(part -> method.owner().startsWith("org/bytedeco/pytorch/" + part));
  }

  @Test
  void theListHoldsWhatOwnModulesCommonlyNeed() {
    var names = new HashSet<String>();
    wanted.of(binding).forEach(method -> names.add(shortName(method)));
    assertThat(names)
        .contains(
            "LinearImpl.weight",
            "LinearImpl.forward",
            "Conv1dImpl.allocate",
            "EmbeddingImpl.forward",
            "LSTMImpl.forward",
            "MultiheadAttentionImpl.forward",
            "LayerNormImpl.forward",
            "BatchNorm2dImpl.allocate",
            "Conv2dOptions.stride",
            "CrossEntropyLossImpl.forward",
            "Tensor.get",
            "Tensor.add",
            "Tensor.matmul",
            "Tensor.index",
            "TensorBase.data_ptr_float",
            "Tensor.sum",
            "Scalar.allocate",
            "torch.relu",
            "torch.softmax",
            "torch.mse_loss",
            "torch.from_blob",
            "torch.stack",
            "torch.einsum",
            "torch.where",
            "torch.linalg_qr",
            "torch.xavier_uniform_",
            "AdamW.allocate",
            "LBFGS.step");
  }

  private static String shortName(NativeMethod method) {
    return method.toString().replaceFirst("\\(.*", "");
  }

  @Test
  void thePackedGlueIsSmall() throws IOException {
    assertThat(Files.size(PACKED)).isLessThan(LARGEST_PACKED);
  }

  /** On x86-64 a list may be ahead of the library until a release, which is checked for it. */
  @Test
  void theLibraryHoldsWhatTheListWants(@TempDir Path folder) throws IOException {
    assumeTrue(Platform.here() == Platform.LINUX_ARM64 || Boolean.getBoolean("flotilla.release"));
    var library = folder.resolve("libjnitorch.so");
    try (var packed = new XZInputStream(Files.newInputStream(PACKED))) {
      Files.copy(packed, library);
    }
    var symbols = new HashSet<>(ElfFile.read(library).definedSymbols());
    assertThat(
            wanted.of(binding).stream()
                .filter(method -> method.symbols().stream().noneMatch(symbols::contains)))
        .as("in the list but not in the library, which is older: run arm64/build-glue")
        .isEmpty();
    assertThat(ElfFile.read(library).needed())
        .contains("libtorch_cpu.so", "libtorch.so", "libc10.so");
  }
}
