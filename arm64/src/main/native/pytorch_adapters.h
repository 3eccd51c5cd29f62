// How JavaCPP's generated code turns pointers that Java holds into libtorch's own smart pointers and views, and back.
//
// An adapter is made from what a Java object knows (address, size, owner) or from a C++ value. The owner is a smart
// pointer on the heap; it is NULL where Java only borrows, and equal to the address where Java has made the object with
// plain "new". Converting to a raw pointer hands the object to Java, which then needs an owner of its own.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

template <class T, class NullType = c10::detail::intrusive_target_default_null_type<T>>
class IntrusivePtrAdapter {
 public:
  typedef c10::intrusive_ptr<T, NullType> S;

  IntrusivePtrAdapter(const T* ptr, size_t size, void* owner)
      : ptr(const_cast<T*>(ptr)), size(size), owner(owner), own(taken(this->ptr, owner)), held(own) {}
  IntrusivePtrAdapter(S&& value) : ptr(nullptr), size(0), owner(nullptr), own(std::move(value)), held(own) {}
  IntrusivePtrAdapter(const S& value) : ptr(nullptr), size(0), owner(nullptr), own(value), held(own) {}
  IntrusivePtrAdapter(S& value) : ptr(nullptr), size(0), owner(nullptr), held(value) {}
  IntrusivePtrAdapter(const S* value) : ptr(nullptr), size(0), owner(nullptr), held(*const_cast<S*>(value)) {}

  void assign(T* newPtr, size_t newSize, void* newOwner) {
    ptr = newPtr;
    size = newSize;
    owner = newOwner;
    held = taken(newPtr, newOwner);
  }

  static void deallocate(void* owner) { delete static_cast<S*>(owner); }

  operator typename std::remove_const<T>::type*() {
    ptr = held.get();
    if (ptr != nullptr && (owner == nullptr || owner == ptr)) {
      owner = new S(held);
    }
    return const_cast<typename std::remove_const<T>::type*>(ptr);
  }
  operator T&() { return *held; }
  operator S&() { return held; }
  operator S*() { return &held; }

  T* ptr;
  size_t size;
  void* owner;
  S own;
  S& held;

 private:
  static S taken(T* ptr, void* owner) {
    if (owner != nullptr && owner != ptr) {
      return *static_cast<S*>(owner);
    }
    if (ptr == nullptr) {
      return S();
    }
    // An object that nobody counts yet starts its count here; any other gets one more holder.
    return c10::raw::intrusive_ptr::use_count(ptr) == 0 ? S::unsafe_steal_from_new(ptr) : S::reclaim_copy(ptr);
  }
};

template <class T>
class WeakPtrAdapter {
 public:
  typedef std::weak_ptr<T> W;

  WeakPtrAdapter(const T* ptr, size_t size, void* owner)
      : ptr(const_cast<T*>(ptr)), size(size), owner(owner), own(taken(this->ptr, owner)), held(own) {}
  WeakPtrAdapter(const W& value) : ptr(nullptr), size(0), owner(nullptr), own(value), held(own) {}
  WeakPtrAdapter(W& value) : ptr(nullptr), size(0), owner(nullptr), held(value) {}
  WeakPtrAdapter(const W* value) : ptr(nullptr), size(0), owner(nullptr), held(*const_cast<W*>(value)) {}

  void assign(T* newPtr, size_t newSize, void* newOwner) {
    ptr = newPtr;
    size = newSize;
    owner = newOwner;
    held = taken(newPtr, newOwner);
  }

  static void deallocate(void* owner) { delete static_cast<W*>(owner); }

  operator typename std::remove_const<T>::type*() {
    ptr = held.lock().get();
    if (ptr != nullptr && (owner == nullptr || owner == ptr)) {
      owner = new W(held);
    }
    return const_cast<typename std::remove_const<T>::type*>(ptr);
  }
  operator W&() { return held; }
  operator W*() { return &held; }

  T* ptr;
  size_t size;
  void* owner;
  W own;
  W& held;

 private:
  static W taken(T* ptr, void* owner) { return owner != nullptr && owner != ptr ? *static_cast<W*>(owner) : W(); }
};

class StringViewAdapter {
 public:
  StringViewAdapter(const char* ptr, size_t size, void* owner)
      : ptr(const_cast<char*>(ptr)), size(size), owner(owner), own(taken(ptr, size)), held(own) {}
  StringViewAdapter(const signed char* ptr, size_t size, void* owner)
      : StringViewAdapter(reinterpret_cast<const char*>(ptr), size, owner) {}
  StringViewAdapter(const unsigned char* ptr, size_t size, void* owner)
      : StringViewAdapter(reinterpret_cast<const char*>(ptr), size, owner) {}
  StringViewAdapter(std::string_view value) : ptr(nullptr), size(0), owner(nullptr), own(value), held(own) {}
  StringViewAdapter(const std::string_view* value)
      : ptr(nullptr), size(0), owner(nullptr), held(*const_cast<std::string_view*>(value)) {}

  void assign(char* newPtr, size_t newSize, void* newOwner) {
    ptr = newPtr;
    size = newSize;
    owner = newOwner;
    held = taken(newPtr, newSize);
  }

  static void deallocate(void* owner) { delete[] static_cast<char*>(owner); }

  // Java gets a copy with a zero at its end, unless the view still shows what came from Java.
  operator char*() {
    if (ptr == nullptr || held.data() != ptr) {
      size = held.size();
      ptr = new char[size + 1];
      std::memcpy(ptr, held.data(), size);
      ptr[size] = 0;
      owner = ptr;
    }
    return ptr;
  }
  operator const char*() { return operator char*(); }
  operator signed char*() { return reinterpret_cast<signed char*>(operator char*()); }
  operator unsigned char*() { return reinterpret_cast<unsigned char*>(operator char*()); }
  operator std::string_view&() { return held; }
  operator std::string_view*() { return &held; }

  char* ptr;
  size_t size;
  void* owner;
  std::string_view own;
  std::string_view& held;

 private:
  static std::string_view taken(const char* ptr, size_t size) {
    return ptr == nullptr ? std::string_view() : std::string_view(ptr, size > 0 ? size : std::strlen(ptr));
  }
};
