import PawlBase
import PawlHTTP

/// Makes answers in the resumable upload drafts. pawl behaves the same in all versions; the fields are those of each version
/// (UploadProtocols, "One behaviour for all versions").
enum IETFDialect {
  static func announcement(_ version: InteropVersion, location: [UInt8], limits: UploadLimits) -> ResponseHead? {
    guard version.allowsInterim else { return nil }
    var head = ResponseHead(status: 104)
    head.fields.append(version)
    head.fields.append(.location, location)
    head.fields.append(limits, version)
    return head
  }

  static func progress(_ version: InteropVersion, offset: UInt64) -> ResponseHead? {
    guard version.hasProgress else { return nil }
    var head = ResponseHead(status: 104)
    head.fields.append(version)
    head.fields.append(offset: offset)
    return head
  }

  static func keepAlive(_ version: InteropVersion, offset: UInt64) -> ResponseHead? {
    guard version.allowsInterim else { return nil }
    return progress(version, offset: offset) ?? ResponseHead(status: 102)
  }

  static func created(
    _ version: InteropVersion, location: [UInt8], _ status: UploadFacts, _ limits: UploadLimits
  ) -> UploadReply {
    var head = own(201, version, isComplete: false)
    head.fields.append(.location, location)
    head.fields.append(offset: status.offset)
    head.fields.append(limits, version)
    return UploadReply(head)
  }

  static func appended(_ version: InteropVersion, _ status: UploadFacts, _ limits: UploadLimits) -> UploadReply {
    var head = own(version.incompleteAppendStatus, version, isComplete: false)
    head.fields.append(offset: status.offset)
    head.fields.append(limits, version)
    return UploadReply(head)
  }

  static func status(_ version: InteropVersion, _ status: UploadFacts, _ limits: UploadLimits) -> UploadReply {
    guard status.phase.isLive else { return refusal(.gone, version, nil, limits) }
    var head = own(204, version, isComplete: isComplete(status, version))
    head.fields.append(offset: status.offset)
    // Versions before 6 do not define `Upload-Length`, but their clients read it.
    if let length = status.length { head.fields.append(.uploadLength, length.decimal) }
    head.fields.append(limits, version)
    if status.phase == .answered, let origin = status.originStatus {
      head.fields.append(named: originStatusField, UInt64(max(origin, 0)).decimal)
    }
    return UploadReply(head)
  }

  static func cancelled(_ version: InteropVersion) -> UploadReply {
    UploadReply(own(204, version, isComplete: nil))
  }

  /// Returns the origin's response with the fields of the drafts (UploadProtocols, "Final response").
  static func answer(
    _ answer: ResponseHead, _ version: InteropVersion, total: UInt64, location: [UInt8]?, consumed: Bool
  ) -> ResponseHead {
    var head = answer
    // Upload fields of the origin do not describe an upload of pawl.
    DeliveryHead.stripped(&head.fields)
    if let location {
      if !consumed || (version.needsLocationOnAnswer && !head.fields.contains(.location)) {
        head.fields.set(.location, location)
        head.fields.set(.cacheControl, "no-store")
      }
    } else {
      head.fields.shield()
    }
    head.fields.append(version)
    head.fields.append(version, isComplete: consumed)
    head.fields.append(offset: total)
    return head
  }

  static func discovery(_ version: InteropVersion?, _ limits: UploadLimits) -> Fields {
    var fields = Fields()
    if let version { fields.append(version) }
    fields.append(.uploadLimit, limits.fieldValue(for: version ?? .final))
    fields.append(named: acceptPatchField, "\(appendType), application/offset+octet-stream".utf8)
    return fields
  }

  static let originStatusField = Array("Pawl-Origin-Status".utf8)
  static let acceptPatchField = Array("Accept-Patch".utf8)
  static let appendType = "application/partial-upload"

  /// Returns the completeness for offset retrieval (UploadProtocols, "States"). It is `?0` until the upload has the phase
  /// `answered` or `unknown`. In versions before -12 it is `?0` until the origin's response was delivered to a client, because a
  /// client that reads `?1` would not ask for that response any more.
  private static func isComplete(_ status: UploadFacts, _ version: InteropVersion) -> Bool {
    switch status.phase {
    case .open, .complete, .forwarding, .sent, .invalid, .removed: false
    case .answered, .unknown: version.completenessTellsWhoSpeaks || status.isAnswerDelivered
    }
  }

  /// Makes the head of an answer of pawl itself.
  static func own(_ status: Int, _ version: InteropVersion, isComplete: Bool?) -> ResponseHead {
    var head = ResponseHead(status: status)
    head.fields.append(version)
    if let isComplete { head.fields.append(version, isComplete: isComplete) }
    head.fields.shield()
    return head
  }
}

extension UploadPhase {
  /// Whether clients can still ask for the state of the upload.
  var isLive: Bool {
    switch self {
    case .open, .complete, .forwarding, .sent, .answered, .unknown: true
    case .invalid, .removed: false
    }
  }
}

extension Fields {
  mutating func append(_ version: InteropVersion) {
    if let value = version.fieldValue { append(.uploadDraftInteropVersion, value) }
  }

  mutating func append(_ version: InteropVersion, isComplete: Bool) {
    append(version.completenessField, isComplete != version.isCompletenessInverted ? "?1" : "?0")
  }

  mutating func append(offset: UInt64) { append(.uploadOffset, offset.decimal) }

  mutating func append(_ limits: UploadLimits, _ version: InteropVersion) {
    if version.hasLimits { append(.uploadLimit, limits.fieldValue(for: version)) }
  }

  /// Sets the fields that every response on an upload's URL needs, because the URL is a secret and its responses are for its client
  /// only (UploadProtocols, "Fields on upload responses").
  mutating func shield() {
    set(.cacheControl, "no-store")
    removeAll { name, spelling, _ in
      name == .other
        && (spelling.equalsIgnoringCase("X-Content-Type-Options") || spelling.equalsIgnoringCase("Referrer-Policy"))
    }
    append(named: "X-Content-Type-Options".utf8, "nosniff".utf8)
    append(named: "Referrer-Policy".utf8, "no-referrer".utf8)
  }
}

extension UInt64 {
  var decimal: [UInt8] {
    var output: [UInt8] = []
    output.append(decimal: self)
    return output
  }
}
