package dev.flotilla.app;

import com.tngtech.archunit.core.domain.JavaClass;
import dev.flotilla.settings.Setting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.Annotation;
import java.lang.classfile.AnnotationElement;
import java.lang.classfile.AnnotationValue;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.StringEntry;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Texts of a class, read from its file, so that nothing is loaded. */
final class ClassTexts {

  private ClassTexts() {}

  /** Returns the texts of its code. */
  static Set<String> constants(JavaClass type) {
    Set<String> texts = new HashSet<>();
    for (var entry : parsed(type).constantPool()) {
      if (entry instanceof StringEntry text) {
        texts.add(text.stringValue());
      }
    }
    return texts;
  }

  /** Returns what {@link Setting} says of the components of a record. */
  static Set<String> settings(JavaClass type) {
    return parsed(type).findAttribute(Attributes.record()).stream()
        .flatMap(it -> it.components().stream())
        .flatMap(it -> it.findAttribute(Attributes.runtimeVisibleAnnotations()).stream())
        .flatMap(it -> it.annotations().stream())
        .filter(it -> it.classSymbol().equals(Setting.class.describeConstable().orElseThrow()))
        .flatMap(ClassTexts::doc)
        .collect(Collectors.toSet());
  }

  private static Stream<String> doc(Annotation setting) {
    return setting.elements().stream()
        .filter(it -> it.name().equalsString("doc"))
        .map(AnnotationElement::value)
        .map(it -> ((AnnotationValue.OfString) it).stringValue());
  }

  private static ClassModel parsed(JavaClass type) {
    var file = type.getSource().orElseThrow().getUri();
    try (var in = file.toURL().openStream()) {
      return ClassFile.of().parse(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
