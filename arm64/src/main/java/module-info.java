/** The libraries between libtorch's Java classes and libtorch on arm64; open, as others read it. */
@SuppressWarnings("module") // the name of the processor ends in digits
open module dev.flotilla.arm64 {}
