/// What is wrong with a certificate, a key or a setting of TLS, in words that an operator can act on.
package struct TLSProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file it concerns, when it is one.
  package var file: String?
  package var reason: String

  package init(_ reason: String, file: String? = nil) { (self.reason, self.file) = (reason, file) }

  package var description: String { file.map { "\($0): \(reason)" } ?? reason }
}
