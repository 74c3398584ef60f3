/// The requests of an upload in each protocol, and the meaning of their responses.
struct UploadMessages {
  let maker: RequestMaker
  let plan: UploadPlan

  /// Whether an upload that broke off can be resumed.
  var isResumable: Bool { plan.dialect != .plain }

  /// Whether the first request carries the content.
  var createsWithContent: Bool { plan.dialect != .tus }

  /// The first request of an upload.
  func creation() -> RequestText {
    let request = maker.make(plan.method)
    if !maker.hasField("content-type"), createsWithContent {
      request.append("Content-Type", "application/octet-stream")
    }
    switch plan.dialect {
    case .plain: break
    case .interop, .final: appendCompleteness(request)
    case .tus:
      appendVersion(request)
      request.append("Upload-Length", "\(plan.size)")
    }
    return finish(request, content: createsWithContent ? 0..<plan.size : 0..<0)
  }

  /// Returns the request that asks for the offset of the upload.
  func question(_ place: UploadPlace) -> RequestText {
    let request = maker.make("HEAD", path: place.path, authority: place.authority)
    appendVersion(request)
    request.finish()
    return request
  }

  /// Returns the request with the rest of the content.
  func append(_ place: UploadPlace, from offset: UInt64) -> RequestText {
    let request = maker.make("PATCH", path: place.path, authority: place.authority)
    switch plan.dialect {
    case .plain: break
    case .interop(let version):
      if version >= 6 { request.append("Content-Type", "application/partial-upload") }
      request.append("Upload-Offset", "\(offset)")
      appendCompleteness(request)
    case .final:
      request.append("Content-Type", "application/partial-upload")
      request.append("Upload-Offset", "\(offset)")
      appendCompleteness(request)
    case .tus:
      request.append("Content-Type", "application/offset+octet-stream")
      request.append("Upload-Offset", "\(offset)")
      appendVersion(request)
    }
    return finish(request, content: offset..<plan.size)
  }

  private func finish(_ request: RequestText, content: Range<UInt64>) -> RequestText {
    request.append("Content-Length", "\(content.upperBound - content.lowerBound)")
    request.finish()
    request.content = content
    request.isRepeatable = false
    return request
  }

  private func appendVersion(_ request: RequestText) {
    switch plan.dialect {
    case .plain, .final: break
    case .interop(let version): request.append("Upload-Draft-Interop-Version", "\(version)")
    case .tus: request.append("Tus-Resumable", "1.0.0")
    }
  }

  /// Appends the field that marks the content of this request as the last part of the upload.
  private func appendCompleteness(_ request: RequestText) {
    appendVersion(request)
    if plan.dialect == .interop(3) {
      request.append("Upload-Incomplete", "?0")
    } else {
      request.append("Upload-Complete", "?1")
    }
  }

  // MARK: Answers

  /// Returns `Upload-Offset`; `nil` if the field is missing, or larger than the upload.
  func offset(_ bytes: Span<UInt8>) -> UInt64? {
    guard let place = AnswerHead.field("upload-offset", in: bytes), let offset = bytes.decimal(place),
      offset <= plan.size
    else { return nil }
    return offset
  }

  /// Whether a final response confirms a complete upload. Only fields that the protocol defines for this are checked.
  func isComplete(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Bool {
    guard (200..<300).contains(head.status) else { return false }
    switch plan.dialect {
    case .plain: return true
    case .interop, .final:
      // Fields about completeness may be missing. If they are there, they must say that the upload is complete.
      if let place = AnswerHead.field("upload-complete", in: bytes), !bytes.begins(with: "?1", at: place.lowerBound) {
        return false
      }
      return AnswerHead.field("upload-offset", in: bytes) == nil || offset(bytes) == plan.size
    case .tus:
      if let place = AnswerHead.field("pawl-origin-status", in: bytes), bytes.decimal(place) ?? 0 >= 400 {
        return false
      }
      return head.status == 204 && offset(bytes) == plan.size
    }
  }
}

/// The URL of an upload.
struct UploadPlace: Hashable {
  var path: String
  /// The authority; `nil`: the authority of the run's URL.
  var authority: String?

  /// Parses a `Location`, absolute or a path; `nil` for anything else.
  init?(_ location: String) {
    if location.hasPrefix("/"), !location.hasPrefix("//") {
      (path, authority) = (location, nil)
      return
    }
    do throws(Target.Problem) {
      let target = try Target(location)
      (path, authority) = (target.path, target.authority)
    } catch { return nil }
  }
}
