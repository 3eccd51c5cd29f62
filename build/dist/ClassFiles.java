import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.ClassHierarchyResolverOption;
import java.lang.classfile.ClassFile.StackMapsOption;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.LocalDateTime;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Class files that a start-up cache can hold. It takes none from before Java 6, whose methods lack
 * stack maps; picocli's are from Java 5, and reading and verifying them anew takes a quarter of a
 * short command.
 */
final class ClassFiles {

  private static final int FIRST_WITH_STACK_MAPS = ClassFile.JAVA_6_VERSION;

  /** Bytes of a class file up to its version. */
  private static final int HEADER = 8;

  /** Any will do, but always the same: two builds have the same bytes. */
  private static final LocalDateTime TIME = LocalDateTime.of(1980, 2, 1, 0, 0);

  private ClassFiles() {}

  /** Renews the jars of the folder that is named. */
  public static void main(String[] arguments) throws IOException {
    renewIn(Path.of(arguments[0]));
  }

  /** Renews the jars of a folder that hold old classes. */
  static void renewIn(Path folder) throws IOException {
    try (var jars = Files.newDirectoryStream(folder, "*.jar")) {
      for (var jar : jars) {
        if (areOldIn(jar)) {
          var renewed = jar.resolveSibling(jar.getFileName() + ".renewed");
          renew(jar, renewed);
          Files.move(renewed, jar, StandardCopyOption.REPLACE_EXISTING);
        }
      }
    }
  }

  /** Tells whether a jar holds classes from before Java 6; reads their beginnings alone. */
  private static boolean areOldIn(Path jar) throws IOException {
    try (var file = new JarFile(jar.toFile())) {
      for (var entry : file.stream().filter(it -> it.getName().endsWith(".class")).toList()) {
        try (var in = file.getInputStream(entry)) {
          if (isOld(entry.getName(), in.readNBytes(HEADER))) {
            return true;
          }
        }
      }
    }
    return false;
  }

  /**
   * Copies a jar: old classes as of Java 8, with stack maps and the same code; all else as it is.
   */
  private static void renew(Path jar, Path copy) throws IOException {
    var contents = contents(jar);
    var own =
        ClassHierarchyResolver.ofResourceParsing(
            type -> {
              var bytes = contents.get(nameOf(type.descriptorString()));
              return bytes == null ? null : new ByteArrayInputStream(bytes);
            });
    var tool =
        ClassFile.of(
            StackMapsOption.GENERATE_STACK_MAPS,
            ClassHierarchyResolverOption.of(
                own.orElse(ClassHierarchyResolver.defaultResolver()).cached()));
    try (var out = new ZipOutputStream(Files.newOutputStream(copy))) {
      for (var content : contents.entrySet()) {
        var entry = new ZipEntry(content.getKey());
        entry.setTimeLocal(TIME);
        out.putNextEntry(entry);
        var bytes = content.getValue();
        out.write(isOld(content.getKey(), bytes) ? renewed(tool, bytes) : bytes);
        out.closeEntry();
      }
    }
  }

  private static byte[] renewed(ClassFile tool, byte[] bytes) {
    ClassTransform version =
        (builder, element) -> {
          if (element instanceof ClassFileVersion) {
            builder.withVersion(ClassFile.JAVA_8_VERSION, 0);
          } else {
            builder.with(element);
          }
        };
    // Code that is merely passed on would keep its missing stack maps.
    return tool.transformClass(
        tool.parse(bytes),
        version.andThen(ClassTransform.transformingMethodBodies(CodeBuilder::with)));
  }

  private static String nameOf(String descriptor) {
    return descriptor.substring(1, descriptor.length() - 1) + ".class";
  }

  private static boolean isOld(String name, byte[] bytes) {
    return name.endsWith(".class") && bytes[7] < FIRST_WITH_STACK_MAPS;
  }

  private static Map<String, byte[]> contents(Path jar) throws IOException {
    Map<String, byte[]> contents = new LinkedHashMap<>();
    try (var file = new JarFile(jar.toFile())) {
      for (var entry : file.stream().filter(entry -> !entry.isDirectory()).toList()) {
        try (var in = file.getInputStream(entry)) {
          contents.put(entry.getName(), in.readAllBytes());
        }
      }
    }
    return contents;
  }
}
