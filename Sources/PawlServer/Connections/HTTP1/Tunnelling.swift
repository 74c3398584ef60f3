import PawlHTTP
import PawlLoop

extension LoopConnections {
  /// Relays bytes both ways between the client and the origin after a 101, until both have ended.
  /// - Parameters:
  ///   - headCount: the number of bytes in `toClient` that belong to the 101. The log does not count them.
  ///   - holding: an object that is kept alive until the tunnel has ended.
  func tunnel(
    from connection: HTTP1Connection, client: SocketStream, origin: SocketStream, toClient: [UInt8],
    toOrigin: [UInt8], headCount: UInt64, request: IncomingRequest, holding: AnyObject
  ) {
    let version = connection.clientVersion
    let id = ObjectIdentifier(connection)
    let tunnel = Tunnel(client: client, origin: origin, toClient: toClient, toOrigin: toOrigin) {
      [unowned self] down, _ in
      // The connection and the origin's place are kept until now.
      _ = holding
      request.record.bytesSent = down - min(down, headCount)
      self.log(request, version: version)
      self.tunnels[id] = nil
      connection.wasClosed()
    }
    tunnels[id] = tunnel
    tunnel.start()
  }
}
