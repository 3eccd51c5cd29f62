/** A modular program that uses Flotilla; it runs on the class path as well. */
module example.digits {
  requires dev.flotilla.zoo;
}
