package dev.flotilla.launch;

import java.util.Optional;

/**
 * Says that everything between hosts goes through TLS 1.3.
 *
 * @param files a certificate of the user's; empty for one that is made for the job
 */
public record SecureMode(Optional<TlsFiles> files) {}
