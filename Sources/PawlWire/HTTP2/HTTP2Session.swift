import CNGHTTP2
import PawlHTTP

/// The server side of one HTTP/2 connection (RFC 9113), without I/O: bytes in, events and bytes out. It enforces the protocol,
/// limits what a client may cost (``HTTP2Settings``, floods), grows the receive windows with the rate, and schedules streams by
/// `Priority` (RFC 9218); streams without that field take turns. Belongs to one thread.
package final class HTTP2Session {
  /// Whether the connection goes on.
  package enum Progress: Hashable, Sendable {
    case goesOn
    /// The connection ends. The output of ``produce(into:atMost:)`` is still sent, then the connection is closed.
    case ends(EndReason)
  }

  /// Why a connection ended before its client closed it; the raw value is the word of the log.
  package enum EndReason: String, Hashable, Sendable, CaseIterable {
    case protocolError = "protocol-error"
    case resetFlood = "reset-flood"
    case continuationFlood = "continuation-flood"
    case headerFlood = "header-flood"
    case settingsFlood = "settings-flood"
    case pingFlood = "ping-flood"
    case priorityFlood = "priority-flood"
    case windowUpdateFlood = "window-update-flood"
    case emptyFrameFlood = "empty-frame-flood"
    case unknownFrameFlood = "unknown-frame-flood"
    /// The client does not read the frames that it causes.
    case queueFlood = "queue-flood"
    case settingsTimeout = "settings-timeout"
    case goAway = "go-away"
  }

  package weak var delegate: (any HTTP2SessionDelegate)?
  let settings: HTTP2Settings

  /// nghttp2's session, which this object deletes; its callbacks call this object.
  let raw: OpaquePointer
  var reader: HTTP2HeadReader
  var watch: HTTP2FloodWatch
  var streams = HTTP2Streams()
  var events: [HTTP2Event] = []
  /// The connection's receive window.
  var window: HTTP2ReceiveWindow
  var roundTrip = HTTP2RoundTrip()
  /// The time of the last ``receive(_:at:)``, monotonic, in nanoseconds.
  var now: Int64 = 0
  /// The heads of plain requests whose events were not delivered yet: the first `plainCount` elements; the others are spare
  /// readers.
  var plainHeads: [HTTP2HeadReader] = []
  var plainCount = 0
  /// The number of ready responses whose streams are not gone.
  package internal(set) var readyCount = 0
  var values = HTTP2FieldValues()
  var hasSentUnique = false
  /// The streams of PRIORITY_UPDATE frames that came before the streams began.
  var foretold: [HTTP2StreamID] = []
  /// The output of `produce`: the caller's array, swapped in during the call.
  var output: [UInt8] = []
  private var outputLimit = 0
  /// Buffers for field lines and their numbers, which nghttp2 copies.
  var lines: [nghttp2_nv] = []
  var digits: [UInt8] = []
  /// The delegate, while it may be called.
  var listener: (any HTTP2SessionDelegate)?

  var ending: EndReason?
  /// The code of the GOAWAY that is still to be sent.
  var lastWord: HTTP2ErrorCode?
  var isInside = false
  private(set) var isTelling = false
  var settingsState = SettingsState.unsent
  var drainage: Drainage?

  /// The state of the SETTINGS frame of pawl.
  enum SettingsState: Hashable {
    case unsent
    /// It was sent at this time; the client has to acknowledge it within `settingsTimeout`.
    case sent(Int64)
    case acknowledged
  }

  enum Drainage {
    /// The client was asked to open no more streams; streams that are on their way are still accepted (RFC 9113 §6.8).
    case announced(since: Int64)
    case final
  }

  package init(_ settings: HTTP2Settings) {
    self.settings = settings
    reader = HTTP2HeadReader(settings)
    watch = HTTP2FloodWatch(settings)
    window = HTTP2ReceiveWindow(size: settings.connectionWindow)
    raw = HTTP2Callbacks.makeSession(settings)
    HTTP2Callbacks.attach(self, to: raw)
    submitSettings()
  }

  deinit { nghttp2_session_del(raw) }

  /// The first bytes of every HTTP/2 client (RFC 9113 §3.4); the session expects them.
  package static let preface: StaticString = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

  // MARK: Bytes

  /// Processes all of `bytes`. `now`: monotonic, in nanoseconds. Must not be called from within the delegate.
  package func receive(_ bytes: UnsafeRawBufferPointer, at now: Int64) -> Progress {
    take(bytes, at: now, movable: false)
  }

  /// Like ``receive(_:at:)``, for bytes that may be moved. So content of one stream in several frames is joined and delivered in
  /// one call.
  package func receive(movable bytes: UnsafeMutableRawBufferPointer, at now: Int64) -> Progress {
    take(UnsafeRawBufferPointer(bytes), at: now, movable: true)
  }

  private func take(_ bytes: UnsafeRawBufferPointer, at now: Int64, movable: Bool) -> Progress {
    precondition(!isInside && !isTelling, "receive from within the session's own calls")
    self.now = now
    if settingsState == .unsent { settingsState = .sent(now) }
    guard ending == nil else { return progress }
    let received = bytes.bindMemory(to: UInt8.self)
    if let breach = watch.take(received.span, at: now) {
      finish(breach.reason, breach.code)
      return progress
    }
    isInside = true
    // nghttp2 has an unretained reference to this object.
    let count = withExtendedLifetime(self) { nghttp2_session_mem_recv(raw, received.baseAddress, received.count) }
    isInside = false
    if count < 0 { finishAfter(CInt(truncatingIfNeeded: count)) }
    tell(movable: movable)
    if ending == nil {
      returnCredit()
      if nghttp2_session_get_outbound_queue_size(raw) > settings.floods.queuedFrames {
        finish(.queueFlood, .enhanceYourCalm)
      }
    }
    return progress
  }

  /// Appends frames until `output` holds `limit` bytes or more, or there is nothing to send now.
  package func produce(into output: inout [UInt8], atMost limit: Int) -> Progress {
    precondition(!isInside, "produce from within the session's own calls")
    swap(&output, &self.output)
    isInside = true
    let isListening = listener != nil
    if !isListening { listener = delegate }
    withExtendedLifetime(self) { fill(to: limit) }
    if !isListening { listener = nil }
    isInside = false
    if ending != nil { sayLastWord() }
    swap(&output, &self.output)
    tell()
    return progress
  }

  /// Whether the output has reached its limit.
  var isFull: Bool { output.count >= outputLimit }

  private func fill(to limit: Int) {
    outputLimit = limit
    var frame: UnsafePointer<UInt8>?
    while ending == nil, !isFull {
      let count = nghttp2_session_mem_send(raw, &frame)
      guard count > 0, let start = frame else {
        if count < 0 { finish(.protocolError, .internalError) }
        return
      }
      output.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
    }
  }

  /// Whether ``produce(into:atMost:)`` would append anything.
  package var wantsToSend: Bool { lastWord != nil || ending == nil && nghttp2_session_want_write(raw) != 0 }

  /// The number of streams that are not closed yet.
  package var streamCount: Int { streams.count }

  // MARK: Delivering events

  /// Delivers the recorded events to the delegate, and those that its calls cause meanwhile.
  /// - Parameter movable: whether content may be moved within its buffer.
  private func tell(movable: Bool = false) {
    guard !isTelling, !events.isEmpty else { return }
    isTelling = true
    listener = delegate
    var next = 0
    while next < events.count {
      let (event, count) = gathered(at: next, movable: movable)
      if ending == nil { tell(event) }
      next += count
    }
    // Turns with very many frames are rare, so their buffer is not kept.
    events.removeAll(keepingCapacity: events.count <= 256)
    if plainCount > 0 { forgetPlainHeads() }
    listener = nil
    isTelling = false
  }

  func tell(_ event: HTTP2Event) {
    switch event {
    case .plain(let slot, let index): tellPlain(slot, index)
    case .began(let slot):
      guard case .request(let request) = streams[slot].telling, isWorthTelling(request, slot) else { return }
      streams[slot].telling = .told
      listener?.session(self, began: request, on: streams[slot].id)
    case .refused(let slot):
      guard streams[slot].mayBeTold, case .refusal(let refusal, let head) = streams[slot].telling else { return }
      streams[slot].telling = .toldRefusal
      listener?.session(self, refused: refusal, head, on: streams[slot].id)
    case .content(let slot, let bytes):
      guard streams[slot].takesContent else { return }
      listener?.session(self, content: bytes, of: streams[slot].id)
    case .ended(let slot):
      guard streams[slot].takesContent else { return }
      let trailers = streams[slot].trailers
      listener?.session(self, endedContentOf: streams[slot].id, trailers: trailers ?? Fields())
    case .answered(let slot): listener?.session(self, answered: streams[slot].id)
    case .closed(let slot, let code):
      let (id, isTold) = (streams[slot].id, streams[slot].isTold)
      let sent = streams[slot].ready?.sent
      endReady(slot)
      streams.close(slot)
      if isTold, let sent { return listener?.session(self, closedReady: id, by: code, sent: sent) ?? () }
      guard isTold else { return }
      listener?.session(self, closed: id, by: code)
    }
  }
}
