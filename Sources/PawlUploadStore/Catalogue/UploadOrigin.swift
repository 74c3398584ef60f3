package import PawlHTTP

/// The facts of an upload that never change: where it comes from and where it goes.
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
  /// The user whose requests may go on with the upload; empty: anyone who knows the URL.
  package var owner: [UInt8]
  /// The client whose limits the upload counts against.
  package var client: [UInt8]
  package var isTus: Bool
  /// `Upload-Metadata` as it was given.
  package var metadata: [UInt8]?
  /// `Upload-Concat` as it was given.
  package var concat: [UInt8]?
  package var concatenation: Concatenation
  /// The uploads that it was concatenated from.
  package var parts: [UploadID] = []
  /// The path below which its URL was given out; begins and ends with `/`. `nil`: recorded by a version without this.
  package var prefix: [UInt8]?
  /// The most bytes that it may have, as announced at its creation; 0: not known. Recorded together with ``prefix`` only.
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
  /// Whether the body was longer than what is kept.
  package var isTruncated: Bool
  /// When it came; wall clock, seconds since 1970.
  package var at: Int64
  /// How long it can be asked for again.
  package var keepFor: Duration

  package init(
    status: Int, reason: [UInt8] = [], fields: Fields = Fields(), body: [UInt8] = [], isTruncated: Bool = false,
    at: Int64, keepFor: Duration = .seconds(3600)
  ) {
    (self.status, self.reason, self.fields, self.body) = (status, reason, fields, body)
    (self.isTruncated, self.at, self.keepFor) = (isTruncated, at, keepFor)
  }
}

/// A response that did not consume the upload (401, 429, 503), and the number of its attempt. In memory only.
package struct UploadLastRefusal: Sendable, Equatable {
  package var attempt: Int
  package var answer: UploadAnswer

  package init(attempt: Int, answer: UploadAnswer) { (self.attempt, self.answer) = (attempt, answer) }
}
