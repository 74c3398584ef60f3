/// Whether this kernel can do the records of TLS itself, so that `sendfile` works on protected connections.
package enum KernelTLS {
  /// Found out once, on a connection made for it.
  package static let isAvailable = false
}
