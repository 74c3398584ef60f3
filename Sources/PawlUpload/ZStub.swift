package import PawlHTTP
package struct CORSPolicy: Hashable, Sendable {
  package enum Allowed: Hashable, Sendable { case off, any, origins([[UInt8]]) }
  package init(_ a: Allowed) {}
  package func preflight(_ request: Fields) -> Fields { Fields() }
  package func dress(_ head: inout ResponseHead, for request: Fields) {}
}
extension RequestDigests {
  package static func trailerClaims(_ trailers: Fields, _ speech: UploadProtocol) throws(UploadRefusal) -> [DigestClaim] { [] }
}
extension TusConcat {
  package static func token(_ url: [UInt8], prefix: [UInt8]) -> UploadToken? { nil }
}
