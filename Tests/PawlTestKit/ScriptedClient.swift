import CLinux

/// A client with a blocking socket of its own: sends exactly what the test says, byte for byte if asked to, and takes
/// answers apart no further than their framing needs. Waits at most ten seconds for anything.
package final class ScriptedClient: @unchecked Sendable {
  // Safe: used by one thread at a time; a test that hands it to a thread joins that thread.
  private static let patience = 60_000 as CInt

  /// How a connection ended.
  package enum Ending: Hashable, Sendable { case inOrder, reset, stillOpen }

  private var socket: CInt
  private var received: [UInt8] = []
  private var tls: ScriptedClientTLS?

  /// - Parameters:
  ///   - host: the IPv4 address, as a number; 127.0.0.1.
  ///   - receiveBuffer: bytes the kernel takes for the client; small for a slow reader.
  package init(host: UInt32 = 0x7f00_0001, port: UInt16, receiveBuffer: CInt? = nil) {
    socket = CLinux.socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    if var size = receiveBuffer {
      setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
    }
    var one: CInt = 1
    setsockopt(socket, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = host.bigEndian
    address.sin_port = port.bigEndian
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        pawl_connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    precondition(isConnected, "nobody listens for the test's client")
  }

  deinit { close() }

  package func close() {
    guard socket >= 0 else { return }
    CLinux.close(socket)
    socket = -1
  }

  /// Ends the connection with a reset.
  package func reset() {
    var hard = linger(l_onoff: 1, l_linger: 0)
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &hard, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  /// FIN: nothing more will be sent; answers are still read.
  package func halfClose() { shutdown(socket, pawl_SHUT_WR) }

  // MARK: TLS

  /// Goes on over TLS; returns what went wrong, `nil` when the handshake is done.
  /// - Parameter isBytewise: each byte of the handshake goes by itself.
  package func secure(_ offer: TLSOffer, isBytewise: Bool = false) -> String? {
    let tls = ScriptedClientTLS(offer)
    var seen: [UInt8] = []
    while true {
      let outcome = tls.handshake()
      let output = tls.takeOutput()
      for piece in isBytewise ? output.map({ [$0] }) : [output] { _ = sendRaw(piece) }
      switch outcome {
      case .failed(let why): return why
      case .done:
        self.tls = tls
        received = tls.read()
        return nil
      case .wantsRead:
        seen = receiveRaw()
        guard !seen.isEmpty else { return "the connection ended" }
        tls.take(seen)
      }
    }
  }

  /// What the handshake came to, and the session that can be resumed, once something was read.
  package var handshake: ScriptedClientTLS.Facts? { tls?.facts }
  package var session: TLSSession? { tls?.session }

  // MARK: Sending

  /// `false`: the peer takes nothing any more.
  @discardableResult
  package func send(_ bytes: [UInt8]) -> Bool {
    guard let tls else { return sendRaw(bytes) }
    return tls.write(bytes) && sendRaw(tls.takeOutput())
  }

  private func sendRaw(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      guard isReady(CInt(POLLOUT), Self.patience) else { return false }
      let count = bytes[sent...].withUnsafeBytes {
        CLinux.send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
      }
      if count < 0, pawl_errno() == EAGAIN { continue }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  @discardableResult
  package func send(_ text: String, _ fragmenter: Fragmenter = .whole) -> Bool {
    fragmenter.pieces(Array(text.utf8)).allSatisfy { send($0) }
  }

  // MARK: Receiving

  /// Bytes up to and with the next empty line; what came when the connection ends before that.
  package func readHead() -> String {
    while true {
      if let end = received.indices.first(where: { received[$0...].starts(with: [13, 10, 13, 10]) }) {
        defer { received.removeFirst(end + 4) }
        return String(decoding: received[..<(end + 4)], as: UTF8.self)
      }
      guard receive() else {
        defer { received = [] }
        return String(decoding: received, as: UTF8.self)
      }
    }
  }

  /// The next bytes, fewer when the connection ends before.
  package func read(_ count: Int) -> [UInt8] {
    while received.count < count, receive() {}
    defer { received.removeFirst(min(count, received.count)) }
    return Array(received.prefix(count))
  }

  /// Everything up to the end of the connection, and how that ended.
  package func readToEnd() -> (bytes: [UInt8], ending: Ending) {
    while receive() {}
    defer { received = [] }
    return (received, ending)
  }

  package private(set) var ending = Ending.stillOpen

  /// Whether nothing has come, nor ended, so far. Only what was sent before something the test has seen can be missed.
  package var isQuiet: Bool { received.isEmpty && !isReady(CInt(POLLIN), 0) }

  /// One final answer with its content, and the interim ones before it.
  /// - Parameter isHead: HEAD was asked: there is no content whatever the head says.
  package func readAnswer(isHead: Bool = false) -> Answer {
    var interim: [String] = []
    while true {
      let head = readHead()
      var answer = Answer(head: head, interim: interim)
      if (100..<200).contains(answer.status), answer.status != 101 {
        interim.append(head)
        continue
      }
      guard !isHead, answer.status != 101, answer.status != 204, answer.status != 304, head.hasSuffix("\r\n\r\n") else {
        answer.isWhole = head.hasSuffix("\r\n\r\n")
        return answer
      }
      readContent(of: &answer)
      return answer
    }
  }

  private func readContent(of answer: inout Answer) {
    if answer["Transfer-Encoding"] == "chunked" {
      while let size = readChunkSize() {
        answer.content += read(size)
        let end = read(2)
        if size == 0 {
          answer.isWhole = end == [13, 10]
          return
        }
        guard end == [13, 10] else { return }
      }
    } else if let length = answer["Content-Length"].flatMap({ Int($0) }) {
      answer.content = read(length)
      answer.isWhole = answer.content.count == length
    } else {
      (answer.content, _) = readToEnd()
      answer.isWhole = ending == .inOrder
    }
  }

  private func readChunkSize() -> Int? {
    var line: [UInt8] = []
    while !line.suffix(2).elementsEqual([13, 10]) {
      let byte = read(1)
      guard !byte.isEmpty else { return nil }
      line += byte
    }
    return Int(String(decoding: line.dropLast(2), as: UTF8.self), radix: 16)
  }

  /// `false`: nothing more comes.
  private func receive() -> Bool {
    let bytes = receiveRaw()
    guard let tls, !bytes.isEmpty else {
      received += bytes
      return !bytes.isEmpty
    }
    tls.take(bytes)
    received += tls.read()
    return true
  }

  /// Bytes as they come; none: nothing more comes.
  private func receiveRaw() -> [UInt8] {
    guard socket >= 0, ending == .stillOpen, isReady(CInt(POLLIN), Self.patience) else { return [] }
    return [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
      let got = recv(socket, buffer.baseAddress, 65_536, 0)
      if got == 0 { ending = .inOrder }
      if got < 0 { ending = .reset }
      count = max(0, got)
    }
  }

  private func isReady(_ events: CInt, _ milliseconds: CInt) -> Bool {
    var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
    return poll(&entry, 1, milliseconds) == 1
  }
}

/// What a ``ScriptedClient`` was answered.
package struct Answer: Sendable {
  /// Up to and with the empty line.
  package var head: String
  package var interim: [String]
  package var content: [UInt8] = []
  /// Whether the content came to its announced end.
  package var isWhole = false

  init(head: String, interim: [String]) { (self.head, self.interim) = (head, interim) }

  /// 0 when no status line came.
  package var status: Int { head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0 }
  package var text: String { String(decoding: content, as: UTF8.self) }

  /// The lines of the head without their ends.
  package var lines: [String] {
    head.split(separator: "\r\n").map(String.init)
  }

  /// The value of the first field of this name.
  package subscript(_ name: String) -> String? {
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2, parts[0].lowercased() == name.lowercased() else { continue }
      return String(parts[1].drop { $0 == " " })
    }
    return nil
  }
}
