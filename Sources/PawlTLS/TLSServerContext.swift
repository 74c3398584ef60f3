/// The server side of TLS for one listener: its sections' certificates, chosen by SNI (exact name, then wildcard, then
/// the first section). Immutable: a reload makes a new one, connections keep theirs. Safe on any thread.
package final class TLSServerContext: Sendable {
  /// In the order of the sections.
  package let certificates: [CertificateFacts]
  /// Whether some section asks clients for certificates: then a request must not use a connection made for another.
  package let asksForCertificates: Bool

  /// Reads all files. Blocking: never on a loop.
  /// - Parameters:
  ///   - sections: at least one; the first is the default.
  ///   - offersHTTP2: whether ALPN may choose `h2`.
  package init(_ sections: [TLSServerSettings], offersHTTP2: Bool, tickets: TicketKeys) throws(TLSProblem) {
    throw TLSProblem("sketch")
  }

  /// For one accepted socket.
  package func makeEngine() -> TLSEngine { preconditionFailure("sketch") }

  /// Index of the section whose certificates a client gets that asks for this host (lower case, no port).
  package func section(for host: some Collection<UInt8>) -> Int { preconditionFailure("sketch") }
}
