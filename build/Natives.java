import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Lists the native libraries inside the jars of a folder, as CycloneDX: a bill of materials made
 * from poms knows the jars alone.
 *
 * <p>Arguments: the folder, and the file to write.
 */
final class Natives {

  public static void main(String[] arguments) throws Exception {
    List<Path> jars;
    try (var files = Files.list(Path.of(arguments[0]))) {
      jars = files.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
    }
    List<String> components = new ArrayList<>();
    for (Path jar : jars) {
      add(jar, components);
    }
    if (components.isEmpty()) {
      throw new IOException("no jar in %s has a native library".formatted(arguments[0]));
    }
    Files.writeString(
        Path.of(arguments[1]),
        """
        {
          "bomFormat": "CycloneDX",
          "specVersion": "1.6",
          "version": 1,
          "components": [
        %s
          ]
        }
        """
            .formatted(String.join(",\n", components)));
  }

  private static void add(Path jar, List<String> components) throws Exception {
    try (var zip = new ZipFile(jar.toFile())) {
      for (ZipEntry entry : zip.stream().filter(it -> isNative(it.getName())).toList()) {
        components.add(
            """
            {"type": "file", "name": "%s/%s", "hashes": [{"alg": "SHA-256", "content": "%s"}]}\
            """
                .formatted(jar.getFileName(), entry.getName(), sum(zip, entry)));
      }
    }
  }

  private static boolean isNative(String name) {
    return name.matches(".*\\.(so(\\.[0-9.]+)?|dll|dylib|jnilib|a)");
  }

  private static String sum(ZipFile zip, ZipEntry entry)
      throws IOException, GeneralSecurityException {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    try (InputStream in = new DigestInputStream(zip.getInputStream(entry), digest)) {
      in.transferTo(OutputStream.nullOutputStream());
    }
    return HexFormat.of().formatHex(digest.digest());
  }
}
