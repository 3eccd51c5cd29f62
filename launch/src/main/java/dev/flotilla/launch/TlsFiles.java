package dev.flotilla.launch;

import java.nio.file.Path;

/**
 * A certificate of the user's, in PEM files.
 *
 * @param certificate the certificate of this host, with those that lead to the authority's
 * @param key its private key, which nobody else may read
 * @param authority certificates of the authorities by which the other hosts are trusted
 */
public record TlsFiles(Path certificate, Path key, Path authority) {}
