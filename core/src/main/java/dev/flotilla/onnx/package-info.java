/**
 * Models as ONNX files: what computes describes itself to a graph, and the graph becomes the bytes
 * of a protocol buffer.
 *
 * <p>Knows the format and the operators, but neither models nor libtorch.
 */
@NullMarked
package dev.flotilla.onnx;

import org.jspecify.annotations.NullMarked;
