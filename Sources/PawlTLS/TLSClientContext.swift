/// The client side of TLS for one upstream, with the sessions that can be resumed. Safe on any thread.
package final class TLSClientContext: Sendable {
  /// Reads all files. Blocking: never on a loop.
  package init(_ settings: TLSClientSettings) throws(TLSProblem) { throw TLSProblem("sketch") }

  /// For one connected socket.
  /// - Parameters:
  ///   - serverName: a DNS name, sent by SNI, or a literal address, which is not; what the certificate has to be for.
  ///   - place: whose sessions may be resumed: the same for all connections to one address and port of one server.
  package func makeEngine(serverName: String, place: String) -> TLSEngine { preconditionFailure("sketch") }
}
