/// The requests of an upload in each dialect, and what their answers mean.
struct UploadMessages {
  let maker: RequestMaker
  let plan: UploadPlan

  /// Whether an upload that broke off can go on where it was.
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

  /// Asks how much the server has.
  func question(_ place: UploadPlace) -> RequestText {
    let request = maker.make("HEAD", path: place.path, authority: place.authority)
    appendVersion(request)
    request.finish()
    return request
  }

  /// The rest of the content.
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

  /// That the content ends with this request's.
  private func appendCompleteness(_ request: RequestText) {
    appendVersion(request)
    if plan.dialect == .interop(3) {
      request.append("Upload-Incomplete", "?0")
    } else {
      request.append("Upload-Complete", "?1")
    }
  }

  // MARK: Answers

  /// `Upload-Offset`; `nil` when there is none that can be.
  func offset(_ bytes: Span<UInt8>) -> UInt64? {
    guard let place = AnswerHead.field("upload-offset", in: bytes), let offset = bytes.decimal(place),
      offset <= plan.size
    else { return nil }
    return offset
  }

  /// Whether a final answer says what a complete upload's has to, as far as this dialect tells.
  func isComplete(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Bool {
    guard (200..<300).contains(head.status) else { return false }
    switch plan.dialect {
    case .plain: return true
    case .interop, .final:
      // What is told of completeness must not contradict; what is not told is not asked for.
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

/// An upload's own URL.
struct UploadPlace: Hashable {
  var path: String
  /// `nil`: the target's.
  var authority: String?

  /// From a `Location`, absolute or a path; `nil` for anything else.
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
