import PawlCache
import PawlHTTP
package import PawlUpload

/// What two processes tell each other about uploads whose deliveries go on in the old process while the new one has the spool.
package enum LentMessage: Sendable, Equatable {
  /// From the old process: a change of phase to be recorded, with a number for the reply.
  case step(UInt64, LentStep)
  /// From the old process: a client has got the answer of this upload.
  case delivered(UploadID)
  /// From the new process: whether the step with this number is durably recorded.
  case recorded(UInt64, Bool)

  /// The most bytes of the content of an answer that are passed on. Clients of the old process get longer content, too; for others
  /// it is like content beyond `response-max`.
  static let largestBody = 32 << 20

  package func serialize() -> [UInt8] {
    var output: [UInt8] = []
    switch self {
    case .step(let number, let step):
      output.append(1)
      output.append(number: number)
      step.append(to: &output)
    case .delivered(let id):
      output.append(2)
      output.append(id: id)
    case .recorded(let number, let isRecorded):
      output.append(3)
      output.append(number: number)
      output.append(isRecorded ? 1 : 0)
    }
    return output
  }

  /// Decodes what ``serialize()`` wrote. `nil`: the bytes are of an unknown kind, incomplete, or followed by other bytes.
  package init?(serialized: [UInt8]) {
    var reader = ByteReader(rest: serialized[...])
    switch reader.byte() {
    case 1:
      guard let number = reader.number(), let step = LentStep(&reader) else { return nil }
      self = .step(number, step)
    case 2:
      guard let id = reader.id() else { return nil }
      self = .delivered(id)
    case 3:
      guard let number = reader.number(), let isRecorded = reader.flag() else { return nil }
      self = .recorded(number, isRecorded)
    default: return nil
    }
    guard reader.rest.isEmpty else { return nil }
  }

  // MARK: The list

  /// Encodes the uploads whose deliveries are lent.
  package static func serialize(list: Set<UploadID>) -> [UInt8] {
    var output: [UInt8] = []
    output.append(number: UInt64(list.count))
    for id in list { output.append(id: id) }
    return output
  }

  /// Decodes a list; `nil`: it is malformed.
  package static func list(_ serialized: [UInt8]) -> Set<UploadID>? {
    var reader = ByteReader(rest: serialized[...])
    guard let count = reader.number(), count == UInt64(reader.rest.count / 16), reader.rest.count % 16 == 0 else {
      return nil
    }
    var list: Set<UploadID> = []
    while let id = reader.id() { list.insert(id) }
    return list.count == Int(count) ? list : nil
  }
}

/// A change of phase of a lent upload, as the old process asks the new one to record it.
package struct LentStep: Sendable, Equatable {
  package let id: UploadID
  /// One of ``events``.
  package let event: UploadEvent
  /// The columns of the row after the change.
  var attempts: Int64 = 0
  var lastError: String?
  /// When the next attempt is to be made; wall clock, seconds since 1970. `nil`: when a client comes, if there is a ``refusal``; else
  /// at once.
  package var nextAttempt: Int64?
  var giveUpAt: Int64?
  var answerUntil: Int64?
  var originStatus: Int64?
  /// With ``UploadEvent/answered``, the tokens for which the answer is (``SpooledUpload/askers``).
  var credentials: [UInt8]?
  package var answer: UploadAnswer?
  package var refusal: UploadLastRefusal?
  /// The reason for the log.
  var why: String?

  /// The events that may be lent. Their place in this list is their number in messages.
  static let events: [UploadEvent] = [.requestSent, .attemptFailed, .cameBack, .answered, .outcomeLost]

  init(_ id: UploadID, _ event: UploadEvent) { (self.id, self.event) = (id, event) }

  /// - Parameter row: the row after the change.
  init(
    _ id: UploadID, _ event: UploadEvent, _ row: UploadRow, answer: UploadAnswer? = nil,
    refusal: UploadLastRefusal? = nil, why: String? = nil
  ) {
    self.init(id, event)
    (attempts, lastError, nextAttempt, giveUpAt) = (row.attempts, row.lastError, row.nextAttempt, row.giveUpAt)
    (answerUntil, originStatus) = (row.answerUntil, row.originStatus)
    if event == .answered { credentials = row.credentials }
    (self.answer, self.why) = (answer, why)
    // A refusal that came with an earlier attempt has been told.
    self.refusal = refusal.flatMap { $0.attempt == Int(row.attempts) ? $0 : nil }
  }

  /// Changes the row together with its phase.
  func apply(to row: inout UploadRow) {
    (row.attempts, row.lastError, row.nextAttempt, row.giveUpAt) = (attempts, lastError, nextAttempt, giveUpAt)
    (row.answerUntil, row.originStatus) = (answerUntil, originStatus)
    if event == .answered { row.credentials = credentials }
  }

  fileprivate func append(to output: inout [UInt8]) {
    output.append(id: id)
    output.append(number: UInt64(Self.events.firstIndex(of: event) ?? Self.events.count))
    for number in [attempts, nextAttempt, giveUpAt, answerUntil, originStatus] { output.append(optional: number) }
    for text in [lastError.map { Array($0.utf8) }, credentials, why.map { Array($0.utf8) }] {
      output.append(text == nil ? 0 : 1)
      output.append(string: (text ?? [])[...])
    }
    output.append(answer: answer)
    output.append(optional: refusal.map { Int64($0.attempt) })
    output.append(answer: refusal?.answer)
  }

  fileprivate init?(_ reader: inout ByteReader) {
    guard let id = reader.id(), let number = reader.number(), number < UInt64(Self.events.count) else { return nil }
    self.init(id, Self.events[Int(number)])
    guard let attempts = reader.optional(), let count = attempts.value, let next = reader.optional(),
      let end = reader.optional(), let until = reader.optional(), let status = reader.optional(),
      let error = reader.text(), let credentials = reader.text(), let why = reader.text(),
      let answer = reader.answer(), let attempt = reader.optional(), let refused = reader.answer(),
      (attempt.value == nil) == (refused.value == nil), event != .answered || answer.value != nil
    else { return nil }
    (self.attempts, nextAttempt, giveUpAt) = (count, next.value, end.value)
    (answerUntil, originStatus) = (until.value, status.value)
    lastError = error.value.map { String(decoding: $0, as: UTF8.self) }
    self.why = why.value.map { String(decoding: $0, as: UTF8.self) }
    (self.credentials, self.answer) = (credentials.value, answer.value)
    if let number = attempt.value, let answer = refused.value {
      refusal = UploadLastRefusal(attempt: Int(number), answer: answer)
    }
  }
}

extension [UInt8] {
  fileprivate mutating func append(id: UploadID) {
    append(number: id.high)
    append(number: id.low)
  }

  fileprivate mutating func append(optional number: Int64?) {
    append(number == nil ? 0 : 1)
    append(number: UInt64(bitPattern: number ?? 0))
  }

  fileprivate mutating func append(answer: UploadAnswer?) {
    append(answer == nil ? 0 : 1)
    guard let answer else { return }
    let isTooLong = answer.body.count > LentMessage.largestBody
    append(number: UInt64(clamping: answer.status))
    append(string: answer.reason[...])
    append(fields: answer.fields)
    append(string: isTooLong ? [] : answer.body[...])
    append(answer.isTruncated || isTooLong ? 1 : 0)
    append(optional: answer.at)
    append(optional: answer.keepFor.components.seconds)
  }
}

/// A decoded value that may be missing. A missing value is valid; a malformed one is not.
private struct Decoded<Value> { let value: Value? }

extension ByteReader {
  fileprivate mutating func id() -> UploadID? {
    guard let high = number(), let low = number() else { return nil }
    return UploadID(high: high, low: low)
  }

  fileprivate mutating func flag() -> Bool? { byte().flatMap { $0 > 1 ? nil : $0 == 1 } }

  fileprivate mutating func optional() -> Decoded<Int64>? {
    guard let isThere = flag(), let number = number(), isThere || number == 0 else { return nil }
    return Decoded(value: isThere ? Int64(bitPattern: number) : nil)
  }

  fileprivate mutating func text() -> Decoded<[UInt8]>? {
    guard let isThere = flag(), let text = string(), isThere || text.isEmpty else { return nil }
    return Decoded(value: isThere ? Array(text) : nil)
  }

  fileprivate mutating func answer() -> Decoded<UploadAnswer>? {
    guard let isThere = flag() else { return nil }
    guard isThere else { return Decoded(value: nil) }
    guard let status = number(), (100...999).contains(status), let reason = string(), let fields = fields(),
      let body = string(), let isTruncated = flag(), let at = optional()?.value, let keep = optional()?.value
    else { return nil }
    return Decoded(
      value: UploadAnswer(
        status: Int(status), reason: Array(reason), fields: fields, body: Array(body), isTruncated: isTruncated,
        at: at, keepFor: .seconds(keep)))
  }
}
