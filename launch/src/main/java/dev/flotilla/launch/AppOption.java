package dev.flotilla.launch;

/**
 * An option that the launcher's parser passes on to the application untouched.
 *
 * @param name name with its dashes, for example {@code --set}
 * @param takesValue whether a value follows it
 */
public record AppOption(String name, boolean takesValue) {}
