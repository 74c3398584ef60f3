package import CLinux

/// The address of a socket: IPv4, IPv6 or the path of a unix socket.
package struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
  enum Kind: Hashable, Sendable {
    /// The address in host byte order: 127.0.0.1 is 0x7f000001.
    case ipv4(UInt32, port: UInt16)
    /// The upper and the lower half of the address, in host byte order.
    case ipv6(UInt64, UInt64, port: UInt16, scope: UInt32)
    /// A path, or `@` and an abstract name (unix(7)).
    case unix(String)
  }
  let kind: Kind

  init(_ kind: Kind) { self.kind = kind }

  /// The most bytes in the path of a unix socket.
  package static let maxUnixPath = 107

  /// Parses `127.0.0.1:80`, `[::1]:80`, `[fe80::1%eth0]:80`, `unix:PATH` or `unix:@NAME`. Host names are resolved by
  /// ``Resolver``.
  package static func parse(_ text: String) -> SocketAddress? {
    if text.hasPrefix("unix:") { return unix(path: String(text.dropFirst(5))) }
    guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
    let digits = text[text.index(after: colon)...]
    guard let port = UInt16(decimalDigits: digits) else { return nil }
    let host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]"), host.utf8.count > 2 {
      return ipv6(literal: host.dropFirst().dropLast(), port: port)
    }
    return ipv4(literal: host, port: port)
  }

  /// Parses an IPv4 or IPv6 address without a port, IPv6 with or without brackets; `nil` for a name.
  package static func literal(_ host: String, port: UInt16) -> SocketAddress? {
    if host.hasPrefix("["), host.hasSuffix("]"), host.utf8.count > 2 {
      return ipv6(literal: host.dropFirst().dropLast(), port: port)
    }
    return ipv4(literal: host[...], port: port) ?? ipv6(literal: host[...], port: port)
  }

  /// The address of a unix socket; `nil` if the path is empty, holds a NUL or is longer than ``maxUnixPath``.
  package static func unix(path: String) -> SocketAddress? {
    guard (1...maxUnixPath).contains(path.utf8.count), path != "@", !path.utf8.contains(0) else { return nil }
    return SocketAddress(.unix(path))
  }

  private static func ipv4(literal: Substring, port: UInt16) -> SocketAddress? {
    var address = in_addr()
    guard inet_pton(AF_INET, String(literal), &address) == 1 else { return nil }
    return SocketAddress(.ipv4(UInt32(bigEndian: address.s_addr), port: port))
  }

  private static func ipv6(literal: Substring, port: UInt16) -> SocketAddress? {
    let parts = literal.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    var scope: UInt32 = 0
    if parts.count == 2 {
      scope = UInt32(decimalDigits: parts[1]) ?? if_nametoindex(String(parts[1]))
      guard scope != 0 else { return nil }
    }
    var address = in6_addr()
    guard inet_pton(AF_INET6, String(parts[0]), &address) == 1 else { return nil }
    return SocketAddress(ipv6: address, port: port, scope: scope)
  }

  private init(ipv6 address: in6_addr, port: UInt16, scope: UInt32) {
    let (upper, lower) = withUnsafeBytes(of: address) { bytes in
      (bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
    kind = .ipv6(UInt64(bigEndian: upper), UInt64(bigEndian: lower), port: port, scope: scope)
  }

  /// The same address with another port. A unix socket has no port and stays as it is.
  package func withPort(_ port: UInt16) -> SocketAddress {
    switch kind {
    case .ipv4(let address, _): SocketAddress(.ipv4(address, port: port))
    case .ipv6(let upper, let lower, _, let scope): SocketAddress(.ipv6(upper, lower, port: port, scope: scope))
    case .unix: self
    }
  }

  // MARK: What it says

  package var isUnix: Bool { if case .unix = kind { true } else { false } }
  package var isIPv6: Bool { if case .ipv6 = kind { true } else { false } }

  /// Whether the address is in 127.0.0.0/8, is ::1, or is a unix socket.
  package var isLoopback: Bool {
    switch kind {
    case .ipv4(let address, _): address >> 24 == 127
    case .ipv6(let upper, let lower, _, _): upper == 0 && lower == 1
    case .unix: true
    }
  }

  /// The network of the address as one number. For IPv4 this is the address itself. For IPv6 it is the upper 64 bits, since one
  /// customer usually has a network of that size. 0 for a unix socket.
  package var network: UInt64 {
    switch kind {
    case .ipv4(let address, _): 1 << 32 | UInt64(address)
    case .ipv6(let upper, _, _, _): upper
    case .unix: 0
    }
  }

  /// Whether a TCP connection to this address never leaves the machine.
  var staysOnMachine: Bool { isLoopback && !isUnix }

  /// The port; 0 for a unix socket.
  package var port: UInt16 {
    switch kind {
    case .ipv4(_, let port), .ipv6(_, _, let port, _): port
    case .unix: 0
    }
  }

  /// The path of a unix socket.
  package var unixPath: String? { if case .unix(let path) = kind { path } else { nil } }

  /// The address without port and brackets; `unix:PATH` for a unix socket, `unix:` for one without a name.
  package var hostText: String {
    switch kind {
    case .ipv4(let address, _):
      return "\(address >> 24).\(address >> 16 & 255).\(address >> 8 & 255).\(address & 255)"
    case .ipv6(let upper, let lower, _, let scope):
      var address = in6_addr()
      withUnsafeMutableBytes(of: &address) { bytes in
        bytes.storeBytes(of: upper.bigEndian, as: UInt64.self)
        bytes.storeBytes(of: lower.bigEndian, toByteOffset: 8, as: UInt64.self)
      }
      var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      inet_ntop(AF_INET6, &address, &text, socklen_t(text.count))
      let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      return String(decoding: bytes, as: UTF8.self) + (scope == 0 ? "" : "%\(scope)")
    case .unix(let path):
      return "unix:\(path)"
    }
  }

  /// The address in the form that ``parse(_:)`` reads.
  package var description: String {
    switch kind {
    case .ipv4(_, let port): "\(hostText):\(port)"
    case .ipv6(_, _, let port, _): "[\(hostText)]:\(port)"
    case .unix: hostText
    }
  }
}

extension SocketAddress {
  var family: CInt {
    switch kind {
    case .ipv4: AF_INET
    case .ipv6: AF_INET6
    case .unix: AF_UNIX
    }
  }

  /// Makes an address from the form that the kernel uses. An IPv4-mapped IPv6 address (`::ffff:1.2.3.4`) becomes the IPv4
  /// address.
  package init?(_ storage: sockaddr_storage, length: socklen_t) {
    let parsed = withUnsafeBytes(of: storage) { bytes -> Kind? in
      switch CInt(storage.ss_family) {
      case AF_INET:
        let address = bytes.loadUnaligned(as: sockaddr_in.self)
        return .ipv4(UInt32(bigEndian: address.sin_addr.s_addr), port: UInt16(bigEndian: address.sin_port))
      case AF_INET6:
        let address = bytes.loadUnaligned(as: sockaddr_in6.self)
        let port = UInt16(bigEndian: address.sin6_port)
        let whole = SocketAddress(ipv6: address.sin6_addr, port: port, scope: address.sin6_scope_id).kind
        if case .ipv6(0, let lower, _, _) = whole, lower >> 32 == 0xffff {
          return .ipv4(UInt32(truncatingIfNeeded: lower), port: port)
        }
        return whole
      case AF_UNIX:
        let name = bytes[min(pawl_sun_path_offset(), Int(length))..<min(Int(length), bytes.count)]
        if name.first == 0 { return .unix("@" + String(decoding: name.dropFirst(), as: UTF8.self)) }
        return .unix(String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))
      default: return nil
      }
    }
    guard let parsed else { return nil }
    kind = parsed
  }

  /// Calls `body` with the kernel's form of the address.
  package func withSockaddr<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    var storage = sockaddr_storage()
    let length = withUnsafeMutableBytes(of: &storage) { fill($0) }
    return withUnsafePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
    }
  }

  private func fill(_ bytes: UnsafeMutableRawBufferPointer) -> Int {
    switch kind {
    case .ipv4(let address, let port):
      var form = sockaddr_in()
      form.sin_family = sa_family_t(AF_INET)
      form.sin_port = port.bigEndian
      form.sin_addr.s_addr = address.bigEndian
      bytes.storeBytes(of: form, as: sockaddr_in.self)
      return MemoryLayout<sockaddr_in>.size
    case .ipv6(let upper, let lower, let port, let scope):
      var form = sockaddr_in6()
      form.sin6_family = sa_family_t(AF_INET6)
      form.sin6_port = port.bigEndian
      form.sin6_scope_id = scope
      withUnsafeMutableBytes(of: &form.sin6_addr) { address in
        address.storeBytes(of: upper.bigEndian, as: UInt64.self)
        address.storeBytes(of: lower.bigEndian, toByteOffset: 8, as: UInt64.self)
      }
      bytes.storeBytes(of: form, as: sockaddr_in6.self)
      return MemoryLayout<sockaddr_in6>.size
    case .unix(let path):
      bytes.storeBytes(of: sa_family_t(AF_UNIX), as: sa_family_t.self)
      let start = pawl_sun_path_offset()
      for (index, byte) in path.utf8.prefix(SocketAddress.maxUnixPath).enumerated() { bytes[start + index] = byte }
      let isAbstract = path.utf8.first == UInt8(ascii: "@")
      if isAbstract { bytes[start] = 0 }
      return start + path.utf8.count + (isAbstract ? 0 : 1)
    }
  }
}

extension FixedWidthInteger {
  /// Reads ASCII digits; `nil` for anything else, a sign included.
  init?(decimalDigits text: some StringProtocol) {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    self.init(text)
  }
}
