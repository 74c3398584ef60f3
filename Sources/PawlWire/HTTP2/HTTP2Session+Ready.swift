import CNGHTTP2
import PawlHTTP

/// An answer that is there as a whole: the session sends it without asking for anything.
package struct HTTP2ReadyAnswer {
  let head: HTTP2FixedHead
  let body: [UInt8]
  /// Bytes of the body that are in the output.
  var sent = 0
  /// How many there were when it was last looked at, and since when not more, or since when more could have been:
  /// monotonic, in nanoseconds.
  var seen = 0
  var seenAt: Int64 = 0

  /// - Parameter body: not empty.
  package init(_ head: HTTP2FixedHead, body: [UInt8]) { (self.head, self.body) = (head, body) }

  var left: Int { body.count - sent }
}

/// The short way of an answer: a plain request, a body in memory. No object is made for the stream, nothing is asked
/// while it is sent; limits, windows and turns are the same as for any other.
extension HTTP2Session {
  /// The head that was read is kept as it is until what came is told.
  func keepPlainHead(_ slot: Int) {
    if plainCount == plainHeads.count { plainHeads.append(HTTP2HeadReader(settings)) }
    swap(&reader, &plainHeads[plainCount])
    events.append(.plain(slot, plainCount))
    events.append(.ended(slot))
    plainCount += 1
  }

  /// All that came is told.
  func forgetPlainHeads() {
    plainCount = 0
    if plainHeads.count > Self.plainHeadsKept { plainHeads.removeLast(plainHeads.count - Self.plainHeadsKept) }
  }

  /// As many requests as come in one turn, usually.
  private static let plainHeadsKept = 16

  func tellPlain(_ slot: Int, _ index: Int) {
    guard streams[slot].mayBeTold else { return }
    do throws(RequestRefusal) {
      let get = try plainHeads[index].plainGet()
      let id = streams[slot].id
      values.removeAll()
      if let get, let answer = listener?.session(self, answers: get, on: id, with: &values) {
        return send(answer, slot)
      }
      streams[slot].telling = .request(try plainHeads[index].request(isEnd: true))
      tell(.began(slot))
    } catch {
      streams[slot].telling = .refusal(error)
      tell(.refused(slot))
    }
  }

  private func send(_ answer: HTTP2ReadyAnswer, _ slot: Int) {
    let id = streams[slot].id
    streams[slot].ready = answer
    streams[slot].ready?.seenAt = now
    (streams[slot].hasHead, streams[slot].telling) = (true, .told)
    readyCount += 1
    lines.removeAll(keepingCapacity: true)
    lines.append(contentsOf: answer.head.lines)
    values.lend(behind: &lines, forgetsUnique: hasSentUnique) { lines in
      var content = HTTP2Callbacks.readyContent(slot)
      _ = nghttp2_submit_response(raw, id, lines.baseAddress, lines.count, &content)
    }
    // The name is in the client's table from now on.
    hasSentUnique = true
  }

  // MARK: As nghttp2 asks for it

  /// `nil` when there is none: a fault of ours.
  func offerReady(_ slot: Int, limit: Int) -> (count: Int, isLast: Bool)? {
    guard let left = streams[slot].ready?.left, left > 0 else { return nil }
    let count = min(left, limit)
    return (count, count == left)
  }

  func appendReady(_ header: UnsafeBufferPointer<UInt8>, _ count: Int, _ slot: Int) -> Bool {
    guard let answer = streams[slot].ready, count <= answer.left else { return false }
    output.append(contentsOf: header)
    answer.body.withUnsafeBufferPointer {
      output.append(contentsOf: UnsafeBufferPointer(rebasing: $0[answer.sent..<(answer.sent + count)]))
    }
    streams[slot].ready?.sent += count
    return true
  }

  // MARK: Its end

  /// The stream is gone.
  func endReady(_ slot: Int) {
    guard streams[slot].ready != nil else { return }
    streams[slot].ready = nil
    readyCount -= 1
  }

  /// Ready answers that are not produced to their end.
  package var unfinishedReady: [HTTP2StreamID] {
    guard readyCount > 0 else { return [] }
    return streams.indices.compactMap { isUnfinished($0) ? streams[$0].id : nil }
  }

  /// How many bytes of a ready answer are in the output, or were; 0 where there is none.
  package func readySent(of stream: HTTP2StreamID) -> Int { slot(of: stream).flatMap { streams[$0].ready?.sent } ?? 0 }

  /// Ready answers of which the client has taken nothing for `limit` nanoseconds. One that waits behind others, or since
  /// `stuckSince` for the socket, is not to blame.
  package func stuckReady(for limit: Int64, at now: Int64, stuckSince: Int64?) -> [HTTP2StreamID] {
    guard readyCount > 0 else { return [] }
    return streams.indices.compactMap { slot in
      guard isUnfinished(slot), var ready = streams[slot].ready else { return nil }
      if ready.sent != ready.seen { (ready.seen, ready.seenAt) = (ready.sent, now) }
      if !isHeldBack(streams[slot].id) { ready.seenAt = max(ready.seenAt, stuckSince ?? now) }
      streams[slot].ready = ready
      return now - ready.seenAt >= limit ? streams[slot].id : nil
    }
  }

  private func isUnfinished(_ slot: Int) -> Bool {
    guard !streams[slot].isClosed, let ready = streams[slot].ready else { return false }
    return ready.left > 0
  }
}
