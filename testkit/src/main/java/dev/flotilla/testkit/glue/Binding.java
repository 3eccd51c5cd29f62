package dev.flotilla.testkit.glue;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.reflect.AccessFlag;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.ZipFile;

/** The classes of libtorch's binding, read from its jar as data; none is loaded. */
public final class Binding {

  private final Map<String, byte[]> files = new TreeMap<>();
  private final Map<String, ClassModel> classes = new HashMap<>();

  /** Reads the binding's jar. */
  public Binding(Path jar) throws IOException {
    try (var zip = new ZipFile(jar.toFile())) {
      for (var entry : Collections.list(zip.entries())) {
        var name = entry.getName();
        if (name.startsWith(NativeMethod.PACKAGE) && name.endsWith(".class")) {
          try (var content = zip.getInputStream(entry)) {
            files.put(name.replace(".class", ""), content.readAllBytes());
          }
        }
      }
    }
  }

  Set<String> names() {
    return files.keySet();
  }

  Optional<ClassModel> find(String name) {
    var file = files.get(name);
    return file == null
        ? Optional.empty()
        : Optional.of(classes.computeIfAbsent(name, _ -> ClassFile.of().parse(file)));
  }

  Optional<String> superclass(String name) {
    return find(name).flatMap(ClassModel::superclass).map(type -> type.asInternalName());
  }

  boolean inherits(String name, String ancestor) {
    for (var type = Optional.of(name); type.isPresent(); type = superclass(type.get())) {
      if (type.get().equals(ancestor)) {
        return true;
      }
    }
    return false;
  }

  static Optional<MethodModel> method(ClassModel owner, String name, String descriptor) {
    return owner.methods().stream()
        .filter(method -> method.methodName().equalsString(name))
        .filter(method -> method.methodType().equalsString(descriptor))
        .findFirst();
  }

  /** Returns every native method that there is. */
  public SortedSet<NativeMethod> natives() {
    var natives = new TreeSet<NativeMethod>();
    for (var name : files.keySet()) {
      find(name).orElseThrow().methods().stream()
          .filter(method -> method.flags().has(AccessFlag.NATIVE))
          .forEach(method -> natives.add(nativeMethod(name, method)));
    }
    return natives;
  }

  static NativeMethod nativeMethod(String owner, MethodModel method) {
    return new NativeMethod(
        owner, method.methodName().stringValue(), method.methodType().stringValue());
  }
}
