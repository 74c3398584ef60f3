package import PawlHTTP

/// The facts of an upload that never change: its creation request, and the client and user that have sent it.
package struct UploadOrigin: Sendable, Equatable {
  /// The role of an upload in a tus concatenation.
  package enum Concatenation: Int64, Hashable, Sendable { case none = 0, partial = 1, final = 2 }

  /// The creation request as it was received; authority and target decide the route after a restart.
  package var head: RequestHead
  package var scheme: [UInt8]
  package var clientAddress: [UInt8]
  package var peerIsTrusted: Bool
  /// The port of the listener.
  package var port: UInt16
  /// The user whose requests may continue the upload; empty: anyone who knows the URL.
  package var owner: [UInt8]
  /// The client whose limits the upload counts against.
  package var client: [UInt8]
  package var isTus: Bool
  /// `Upload-Metadata` as the client sent it.
  package var metadata: [UInt8]?
  /// `Upload-Concat` as the client sent it.
  package var concat: [UInt8]?
  package var concatenation: Concatenation
  /// The parts that the upload was concatenated from.
  package var parts: [UploadID] = []
  /// The path below which the upload's URL was made; begins and ends with `/`. `nil`: the upload was recorded by a version of pawl
  /// without this property.
  package var prefix: [UInt8]?
  /// The most bytes that the upload may have, as announced at its creation; 0: not known. Recorded only together with ``prefix``.
  package var largest: UInt64 = 0

  package init(
    head: RequestHead, scheme: [UInt8] = Array("http".utf8), clientAddress: [UInt8] = [], peerIsTrusted: Bool = false,
    port: UInt16 = 0, owner: [UInt8] = [], client: [UInt8] = [], isTus: Bool = false, metadata: [UInt8]? = nil,
    concat: [UInt8]? = nil, concatenation: Concatenation = .none, prefix: [UInt8]? = nil
  ) {
    (self.head, self.scheme, self.clientAddress) = (head, scheme, clientAddress)
    (self.peerIsTrusted, self.port, self.owner, self.client) = (peerIsTrusted, port, owner, client)
    (self.isTus, self.metadata, self.concat, self.concatenation) = (isTus, metadata, concat, concatenation)
    self.prefix = prefix
  }
}

/// The origin's final response to an upload, kept for clients that ask for it again.
package struct UploadAnswer: Sendable, Equatable {
  package var status: Int
  package var reason: [UInt8]
  package var fields: Fields
  package var body: [UInt8]
  /// Whether the response's content was longer than ``body``.
  package var isTruncated: Bool
  /// When the response came; wall clock, seconds since 1970.
  package var at: Int64
  /// How long after ``at`` clients can ask for the response.
  package var keepFor: Duration

  package init(
    status: Int, reason: [UInt8] = [], fields: Fields = Fields(), body: [UInt8] = [], isTruncated: Bool = false,
    at: Int64, keepFor: Duration = .seconds(3600)
  ) {
    (self.status, self.reason, self.fields, self.body) = (status, reason, fields, body)
    (self.isTruncated, self.at, self.keepFor) = (isTruncated, at, keepFor)
  }
}

/// A response that did not consume the upload (401, 429, 503), and the number of the delivery attempt. Kept in memory only.
package struct UploadLastRefusal: Sendable, Equatable {
  package var attempt: Int
  package var answer: UploadAnswer

  package init(attempt: Int, answer: UploadAnswer) { (self.attempt, self.answer) = (attempt, answer) }
}
