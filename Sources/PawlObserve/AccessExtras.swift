/// The values of a request that only some formats of the access log show, collected for those formats only.
package final class AccessExtras: Sendable {
  /// Whether the client speaks TLS, with pawl or with a trusted proxy.
  let isSecure: Bool
  let serverPort: UInt16
  /// The port of the client; 0 if it is not known, as over a unix socket.
  let remotePort: UInt16
  /// Bytes of the request: its head and its content.
  let requestLength: UInt64
  /// Bytes of the response's head; over HTTP/2 0, because the head is compressed together with others.
  let headLength: UInt64
  /// What was learnt of the origin; `nil` if the origin was not asked.
  let origin: Origin?
  /// The values of ``AccessFormat/requestFields`` and of ``AccessFormat/responseFields``, in that order.
  let requestFields: [ArraySlice<UInt8>?]
  let responseFields: [ArraySlice<UInt8>?]

  /// The last answer of an origin to this request.
  package struct Origin: Sendable {
    package var address: String
    /// 0: no response came.
    package var status: Int
    package var micros: UInt64

    package init(address: String, status: Int, micros: UInt64) {
      (self.address, self.status, self.micros) = (address, status, micros)
    }
  }

  package init(
    isSecure: Bool, serverPort: UInt16, remotePort: UInt16 = 0, requestLength: UInt64, headLength: UInt64,
    origin: Origin?,
    requestFields: [ArraySlice<UInt8>?], responseFields: [ArraySlice<UInt8>?]
  ) {
    (self.isSecure, self.serverPort, self.remotePort) = (isSecure, serverPort, remotePort)
    self.requestLength = requestLength
    (self.headLength, self.origin) = (headLength, origin)
    (self.requestFields, self.responseFields) = (requestFields, responseFields)
  }
}
