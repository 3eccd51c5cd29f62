// What newer headers of the C and C++ libraries refer to and the libraries of glibc 2.28's time do not have.
#include <new>
#include <sstream>
#include <string>

#define HIDDEN __attribute__((visibility("hidden")))

// Reference counts are then always atomic, which is right in a JVM.
extern "C" HIDDEN char __libc_single_threaded;
char __libc_single_threaded = 0;

namespace std {
void __throw_bad_array_new_length() { throw bad_array_new_length(); }
}  // namespace std

// Members that the headers expect to find in the library, and that are younger than gcc 8.
template std::basic_ostringstream<char>::basic_ostringstream();
template std::string std::basic_stringbuf<char>::str() const&;
