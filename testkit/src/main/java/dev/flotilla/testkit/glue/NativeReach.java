package dev.flotilla.testkit.glue;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.reflect.AccessFlag;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Finds the native methods of the binding that a set of classes can reach: through calls and method
 * references, the binding's own Java methods, and overrides in those of its classes that are used.
 */
public final class NativeReach {

  private record Call(String owner, String name, String descriptor) {}

  private final Binding binding;
  private final Set<Call> calls = new HashSet<>();
  private final Deque<Call> open = new ArrayDeque<>();
  private final Set<String> used = new TreeSet<>();
  private final SortedSet<NativeMethod> natives = new TreeSet<>();

  /** Starts with nothing reached. */
  public NativeReach(Binding binding) {
    this.binding = binding;
  }

  /** Adds what the class files of a folder reach. */
  public NativeReach add(Path folder) throws IOException {
    try (var files = Files.walk(folder)) {
      for (var file : files.filter(path -> path.toString().endsWith(".class")).toList()) {
        add(ClassFile.of().parse(file));
      }
    }
    return this;
  }

  /** Returns all natives that were reached. */
  public SortedSet<NativeMethod> natives() {
    follow();
    int known;
    do {
      known = calls.size();
      addOverrides();
      follow();
    } while (calls.size() > known);
    return natives;
  }

  private void add(ClassModel user) {
    user.methods().forEach(this::scan);
    user.superclass().ifPresent(type -> addCallbacks(type.asInternalName()));
  }

  /** What a user's class overrides is called from native code: all of its ancestor is reached. */
  private void addCallbacks(String ancestor) {
    binding
        .find(ancestor)
        .ifPresent(
            type -> {
              use(ancestor);
              type.methods().forEach(method -> addCall(ancestor, method));
              binding.superclass(ancestor).ifPresent(this::addCallbacks);
            });
  }

  private void scan(MethodModel method) {
    method
        .code()
        .ifPresent(
            code ->
                code.forEach(
                    element -> {
                      switch (element) {
                        case InvokeInstruction call ->
                            addCall(
                                call.owner().asInternalName(),
                                call.name().stringValue(),
                                call.type().stringValue());
                        case InvokeDynamicInstruction dynamic -> scan(dynamic);
                        case FieldInstruction field -> use(field.owner().asInternalName());
                        case NewObjectInstruction made -> use(made.className().asInternalName());
                        default -> {}
                      }
                    }));
  }

  private void scan(InvokeDynamicInstruction dynamic) {
    for (var argument : dynamic.bootstrapArgs()) {
      if (argument instanceof DirectMethodHandleDesc handle
          && handle.owner().isClassOrInterface()) {
        var owner = handle.owner().descriptorString();
        addCall(
            owner.substring(1, owner.length() - 1), handle.methodName(), handle.lookupDescriptor());
      }
    }
  }

  private void addCall(String owner, MethodModel method) {
    addCall(owner, method.methodName().stringValue(), method.methodType().stringValue());
  }

  private void addCall(String owner, String name, String descriptor) {
    var call = new Call(owner, name, descriptor);
    if (owner.startsWith(NativeMethod.PACKAGE) && calls.add(call)) {
      open.add(call);
    }
  }

  /** A class that is used runs its initializer. */
  private void use(String name) {
    var type = binding.find(name);
    if (type.isPresent() && used.add(name)) {
      Binding.method(type.get(), "<clinit>", "()V").ifPresent(this::scan);
      binding.superclass(name).ifPresent(this::use);
    }
  }

  private void follow() {
    for (var call = open.poll(); call != null; call = open.poll()) {
      resolve(call);
    }
  }

  private void resolve(Call call) {
    for (var type = Optional.of(call.owner());
        type.isPresent();
        type = binding.superclass(type.get())) {
      use(type.get());
      var method =
          binding
              .find(type.get())
              .flatMap(model -> Binding.method(model, call.name(), call.descriptor()));
      if (method.isPresent()) {
        reach(type.get(), method.get());
        return;
      }
    }
  }

  private void reach(String owner, MethodModel method) {
    if (method.flags().has(AccessFlag.NATIVE)) {
      natives.add(Binding.nativeMethod(owner, method));
    } else if (method.flags().has(AccessFlag.ABSTRACT)) {
      binding.names().stream()
          .filter(name -> !name.equals(owner) && binding.inherits(name, owner))
          .forEach(name -> addOverride(name, method));
    } else {
      scan(method);
    }
  }

  private void addOverride(String name, MethodModel overridden) {
    Binding.method(
            binding.find(name).orElseThrow(),
            overridden.methodName().stringValue(),
            overridden.methodType().stringValue())
        .ifPresent(method -> addCall(name, method));
  }

  /** A call on an ancestor may be answered by any class that is used. */
  private void addOverrides() {
    var known = List.copyOf(calls);
    for (var name : List.copyOf(used)) {
      var type = binding.find(name).orElseThrow();
      known.stream()
          .filter(call -> !call.name().equals("<init>") && binding.inherits(name, call.owner()))
          .forEach(
              call ->
                  Binding.method(type, call.name(), call.descriptor())
                      .ifPresent(method -> addCall(name, method)));
    }
  }
}
