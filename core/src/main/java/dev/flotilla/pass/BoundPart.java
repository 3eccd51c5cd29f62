package dev.flotilla.pass;

import dev.flotilla.model.Part;

/**
 * A part of the chain with its place.
 *
 * @param segment the number of its segment
 * @param index its number within the segment
 * @param part its name and function
 */
public record BoundPart(int segment, int index, Part part) {}
