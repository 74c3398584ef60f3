import CNGHTTP2
import PawlHTTP

/// A response whose body is complete in memory: the session sends it without calling the delegate.
package struct HTTP2ReadyAnswer {
  let head: HTTP2FixedHead
  let body: [UInt8]
  /// The number of bytes of the body that were written into the output.
  var sent = 0
  /// `sent` at the last check, and the time from which a lack of progress counts: monotonic, in nanoseconds.
  var seen = 0
  var seenAt: Int64 = 0

  /// - Parameter body: not empty.
  package init(_ head: HTTP2FixedHead, body: [UInt8]) { (self.head, self.body) = (head, body) }

  var left: Int { body.count - sent }
}

/// The hot path: a plain request, and a response whose body is in memory. No object is made for the stream, and the delegate is
/// not called while the response is sent. Limits, windows and priorities are the same as for all streams.
extension HTTP2Session {
  /// Keeps the parsed head until its event is delivered.
  func keepPlainHead(_ slot: Int) {
    if plainCount == plainHeads.count { plainHeads.append(HTTP2HeadReader(settings)) }
    swap(&reader, &plainHeads[plainCount])
    events.append(.plain(slot, plainCount))
    events.append(.ended(slot))
    plainCount += 1
  }

  /// Frees the kept heads after all events were delivered.
  func forgetPlainHeads() {
    plainCount = 0
    if plainHeads.count > Self.plainHeadsKept { plainHeads.removeLast(plainHeads.count - Self.plainHeadsKept) }
  }

  /// The number of heads whose memory is kept: about as many requests as arrive in one turn of the loop.
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
      streams[slot].telling = .refusal(error, plainHeads[index].refused)
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
    // From now on the names of unique values are in the dynamic table of the client.
    hasSentUnique = true
  }

  // MARK: Content

  /// The length of the next frame of a ready response, and whether it is the last one; `nil` when no bytes are left, which is a
  /// bug.
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

  // MARK: Ending

  /// Forgets the ready response of a stream that is gone.
  func endReady(_ slot: Int) {
    guard streams[slot].ready != nil else { return }
    streams[slot].ready = nil
    readyCount -= 1
  }

  /// The streams whose ready responses are not completely in the output.
  package var unfinishedReady: [HTTP2StreamID] {
    guard readyCount > 0 else { return [] }
    return streams.indices.compactMap { isUnfinished($0) ? streams[$0].id : nil }
  }

  /// The number of bytes of a ready response that were written into the output; 0 where there is none.
  package func readySent(of stream: HTTP2StreamID) -> Int { slot(of: stream).flatMap { streams[$0].ready?.sent } ?? 0 }

  /// The streams whose ready responses made no progress for `limit` nanoseconds because of the client. The time in which a stream
  /// waits for other streams does not count. `stuckSince`: the time since which the socket accepts nothing; `nil` while the
  /// socket accepts bytes.
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
