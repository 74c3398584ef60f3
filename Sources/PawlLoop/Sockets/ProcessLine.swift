import PawlBase

/// A socket between two processes that carries messages, each after its length (eight bytes, big-endian). Used on one loop.
package final class ProcessLine: StreamDelegate {
  /// The largest message in bytes. A longer one ends the line.
  package static let largest = 64 << 20
  static let headerSize = 8

  private let stream: SocketStream
  private let loop: EventLoop
  private var received: ([UInt8]) -> Void
  private var ended: () -> Void
  private var input: [UInt8] = []
  /// What the socket has not taken yet. Its size is limited by the sender, which waits for replies.
  private var output: [UInt8] = []
  /// How many bytes at the beginning of ``output`` the socket has taken.
  private var sent = 0
  private var isOver = false

  static func header(_ count: Int) -> [UInt8] { withUnsafeBytes(of: UInt64(count).bigEndian) { Array($0) } }

  /// Returns the length that a header says; `nil`: it is no length.
  static func count(_ header: some Collection<UInt8>) -> Int? {
    guard header.count == headerSize else { return nil }
    return Int(exactly: header.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  /// - Parameters:
  ///   - descriptor: a connected unix socket, which is closed with the line.
  ///   - received: called for each message.
  ///   - ended: called once, when the other process has ended or has sent something else. Not after ``close()``.
  package init(
    _ descriptor: CInt, on loop: EventLoop, received: @escaping ([UInt8]) -> Void, ended: @escaping () -> Void
  ) {
    stream = SocketStream(adopting: descriptor, loop: loop)
    (self.loop, self.received, self.ended) = (loop, received, ended)
  }

  package func start() {
    stream.delegate = self
    stream.startReading()
  }

  package func send(_ message: [UInt8]) {
    guard !isOver else { return }
    let isIdle = output.isEmpty
    output += Self.header(message.count) + message
    if isIdle { flush() }
  }

  package func close() {
    isOver = true
    (input, output, sent) = ([], [], 0)
    (received, ended) = ({ _ in }, {})
    stream.close()
  }

  // MARK: - Stream

  package func streamReadable() {
    while !isOver {
      let result = loop.withReadBuffer { buffer in
        let result = stream.read(into: buffer)
        if case .bytes(let count) = result { input += buffer[..<count] }
        return result
      }
      switch result {
      case .bytes: takeMessages()
      case .wouldBlock: return
      case .end, .failed: return end()
      }
    }
  }

  package func streamWritable() { flush() }

  private func takeMessages() {
    var start = 0
    while !isOver, input.count - start >= Self.headerSize {
      let body = start + Self.headerSize
      guard let count = Self.count(input[start..<body]), count <= Self.largest else { return end() }
      guard input.count - body >= count else { break }
      received(Array(input[body..<body + count]))
      start = body + count
    }
    if !isOver { input.removeFirst(start) }
  }

  private func flush() {
    while sent < output.count, !isOver {
      switch output.withUnsafeBytes({ stream.write(.init(rebasing: $0[sent...]), more: false) }) {
      case .bytes(let count): sent += count
      case .wouldBlock: return stream.wantWritable()
      // What the other process has sent before its end is still read, and then the end.
      case .end, .failed: sent = output.count
      }
    }
    (output, sent) = ([], 0)
  }

  private func end() {
    let ended = ended
    close()
    ended()
  }
}
