/// What the operator wants done with an upload.
package struct UploadOrder: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable { case remove = "rm", resend }
  package let number: Int64
  package let id: UploadID
  package let kind: Kind
}

/// How the command line gives orders: to the server that has the spool, or to the spool itself when none runs.
package enum UploadOrders {
  package enum Outcome: Hashable, Sendable {
    case done
    /// There is no such upload.
    case unknownUpload
    /// Its phase does not allow it; the text says which it has.
    case refused(String)
    /// A server has the spool and did not answer in time.
    case noAnswer
  }

  /// Blocking; waits at most `patience` for the server.
  package static func give(
    _ kind: UploadOrder.Kind, _ id: UploadID, path: String, patience: Duration = .seconds(10)
  ) throws(StoreError) -> Outcome { .noAnswer }
}
