package dev.flotilla.config;

/** Names what the library itself brings: the one line that a new technique adds here. */
final class BuiltIn implements CatalogueProvider {}
