package import PawlHTTP

/// Makes all answers of pawl about an upload, and adapts the origin's response to the client's protocol. The caller adds fields
/// of connection and framing, and omits the body for HEAD.
package enum UploadReplies {
  /// Makes the 104 with the upload's URL. It is sent for each creation, before the content is read (UploadProtocols, "Creation").
  /// `nil`: the client would not understand a 104.
  package static func announcement(
    _ version: InteropVersion, location: [UInt8], limits: UploadLimits
  ) -> ResponseHead? {
    IETFDialect.announcement(version, location: location, limits: limits)
  }

  /// Makes a 104 that tells how many bytes are durable. `nil`: the version uses 104 only to announce the upload's URL.
  package static func progress(_ version: InteropVersion, offset: UInt64) -> ResponseHead? {
    IETFDialect.progress(version, offset: offset)
  }

  /// Makes an interim response that keeps a connection alive while the origin works: a 104. It is a 102 in versions that use 104
  /// only to announce the upload's URL; `nil` in tus, whose clients expect no 1xx.
  package static func keepAlive(_ protocol: UploadProtocol, offset: UInt64) -> ResponseHead? {
    switch `protocol` {
    case .ietf(let version): IETFDialect.keepAlive(version, offset: offset)
    case .tus: nil
    }
  }

  /// Answers a creation whose upload is not complete yet.
  package static func created(
    _ protocol: UploadProtocol, location: [UInt8], _ status: UploadFacts, _ limits: UploadLimits
  ) -> UploadReply {
    switch `protocol` {
    case .ietf(let version): IETFDialect.created(version, location: location, status, limits)
    case .tus: TusDialect.created(location: location, status, limits)
    }
  }

  /// Answers an append after which the upload is not complete yet.
  package static func appended(
    _ protocol: UploadProtocol, _ status: UploadFacts, _ limits: UploadLimits
  ) -> UploadReply {
    switch `protocol` {
    case .ietf(let version): IETFDialect.appended(version, status, limits)
    case .tus: TusDialect.appended(status, limits)
    }
  }

  /// Answers HEAD in any phase of the upload, and GET if there is no response of the origin.
  package static func status(
    _ protocol: UploadProtocol, _ status: UploadFacts, _ limits: UploadLimits
  ) -> UploadReply {
    switch `protocol` {
    case .ietf(let version): IETFDialect.status(version, status, limits)
    case .tus: TusDialect.status(status, limits)
    }
  }

  package static func cancelled(_ protocol: UploadProtocol) -> UploadReply {
    switch `protocol` {
    case .ietf(let version): IETFDialect.cancelled(version)
    case .tus: TusDialect.cancelled()
    }
  }

  /// - Parameter status: the facts of the upload that the request was about; `nil`: there is no such upload.
  package static func refusal(
    _ refusal: UploadRefusal, _ protocol: UploadProtocol, _ status: UploadFacts?, _ limits: UploadLimits
  ) -> UploadReply {
    switch `protocol` {
    case .ietf(let version): IETFDialect.refusal(refusal, version, status, limits)
    case .tus: TusDialect.refusal(refusal, status, limits)
    }
  }

  /// Returns the origin's response as the client gets it.
  /// - Parameters:
  ///   - head: the head of the origin's response, without hop-by-hop fields.
  ///   - total: the length of the upload in bytes.
  ///   - location: the upload's URL if the request was its creation, else `nil`.
  ///   - consumed: `false` if the upload can be completed again (``DeliveryPolicy/verdict(status:)``).
  ///   - target: the target of the creation, to which references in the response are relative.
  /// - Returns: the head, and whether the origin's content is sent with it (`keepsBody`).
  package static func answer(
    _ head: ResponseHead, _ protocol: UploadProtocol, total: UInt64, location: [UInt8]?, consumed: Bool,
    target: Bytes? = nil
  ) -> (head: ResponseHead, keepsBody: Bool) {
    var head = head
    if location == nil, let target { RelativeReferences.anchor(&head.fields, at: target) }
    switch `protocol` {
    case .ietf(let version):
      return (IETFDialect.answer(head, version, total: total, location: location, consumed: consumed), true)
    case .tus: return TusDialect.answer(head, total: total, location: location, consumed: consumed)
    }
  }

  /// Returns the fields that answer OPTIONS on a target or an upload's URL, for both protocols (UploadProtocols, "Discovery and
  /// cancellation" and "tus").
  /// - Parameter version: the version of the request, if it has one.
  package static func discovery(_ limits: UploadLimits, version: InteropVersion? = nil) -> Fields {
    var fields = IETFDialect.discovery(version, limits)
    let tus = TusDialect.discovery(limits)
    for line in tus.lines { fields.append(named: tus.name(line), tus.value(line)) }
    return fields
  }
}
