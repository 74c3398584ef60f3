/// A problem with a certificate, a key or a setting of TLS, in words that an operator can act on.
package struct TLSProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file with the problem, if it is in a file.
  package var file: String?
  package var reason: String

  package init(_ reason: String, file: String? = nil) { (self.reason, self.file) = (reason, file) }

  package var description: String { file.map { "\($0): \(reason)" } ?? reason }
}
