import PawlBase

/// Requests random ranges of one body. A request has one range, or several; several ranges come as `multipart/byteranges` and are
/// checked part by part. A server may join ranges or send more than was requested, but has to send all requested bytes.
final class RangesScript: Script {
  private let request: RequestText
  private let reference: Reference
  private let comparesContent: Bool
  private let size: UInt64
  private let parts: Int
  private let worker: Worker
  private var wanted: [ClosedRange<UInt64>] = []
  private var isCovered: [Bool] = []
  private var offset: UInt64 = 0
  private var multipart = MultipartReader()
  private var isMultipart = false

  /// - Parameters:
  ///   - size: the bytes of a range; reduced if the body is smaller than `parts` such ranges.
  ///   - reference: must not be empty.
  init(_ worker: Worker, _ maker: RequestMaker, _ reference: Reference, size: UInt64, parts: Int) {
    (self.worker, self.reference, self.parts) = (worker, reference, parts)
    self.size = max(1, min(size, reference.count / UInt64(parts)))
    comparesContent = worker.settings.comparesContent
    request = maker.make()
    wanted.reserveCapacity(parts)
    isCovered.reserveCapacity(parts)
  }

  func begin() -> RequestText? {
    choose()
    request.rewind()
    request.append("Range") { value in
      value.append(contentsOf: "bytes=".utf8)
      for (index, range) in wanted.enumerated() {
        if index > 0 { value.append(0x2c) }
        value.append(decimal: range.lowerBound)
        value.append(0x2d)
        value.append(decimal: range.upperBound)
      }
    }
    request.finish()
    return request
  }

  /// Chooses one range in each of `parts` equal pieces of the body, so that the ranges are in order and do not overlap.
  private func choose() {
    wanted.removeAll(keepingCapacity: true)
    isCovered.removeAll(keepingCapacity: true)
    let stretch = reference.count / UInt64(parts)
    for part in 0..<UInt64(parts) {
      let first = part * stretch + worker.random.next(below: stretch - size + 1)
      wanted.append(first...first + size - 1)
      isCovered.append(false)
    }
  }

  func head(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Verdict {
    guard head.status == 206 else { return .failed(.status(head.status)) }
    isMultipart = head.contentRange == nil
    guard let range = head.contentRange else {
      return parts > 1 && multipart.begin(bytes) ? .goOn : .failed(.range)
    }
    guard cover(range) else { return .failed(.range) }
    if parts == 1, range.first != wanted[0].lowerBound || range.last != wanted[0].upperBound { return .failed(.range) }
    if let length = head.length, length != range.last - range.first + 1 { return .failed(.length) }
    offset = range.first
    return .goOn
  }

  private func cover(_ range: AnswerHead.ContentRange) -> Bool {
    guard range.total ?? reference.count == reference.count else { return false }
    var isWanted = false
    for (index, own) in wanted.enumerated() where range.first <= own.lowerBound && range.last >= own.upperBound {
      isWanted = true
      isCovered[index] = true
    }
    return isWanted
  }

  func content(_ bytes: UnsafeBufferPointer<UInt8>) -> Verdict {
    guard isMultipart else {
      let at = offset
      offset += UInt64(bytes.count)
      return compare(bytes, at)
    }
    var at = 0
    while true {
      switch multipart.next(bytes, &at) {
      case .more: return .goOn
      case .part(let range): if !cover(range) { return .failed(.range) }
      case .content(let start, let count, let offset):
        let verdict = compare(UnsafeBufferPointer(rebasing: bytes[start..<start + count]), offset)
        if verdict != .goOn { return verdict }
      case .malformed: return .failed(.syntax)
      }
    }
  }

  private func compare(_ bytes: UnsafeBufferPointer<UInt8>, _ offset: UInt64) -> Verdict {
    guard comparesContent else { return .goOn }
    guard reference.matches(bytes, at: offset) else { return .failed(.content) }
    worker.tally.verified += UInt64(bytes.count)
    return .goOn
  }

  func ended() -> Outcome {
    if isMultipart {
      guard multipart.finish() else { return .failed(.syntax) }
    } else if parts == 1, offset != wanted[0].upperBound + 1 {
      return .failed(.length)
    }
    return isCovered.allSatisfy { $0 } ? .done : .failed(.range)
  }
}
