import CLinux

/// Whether this kernel can encrypt TLS records itself (kTLS), so that `sendfile` works on TLS connections.
package enum KernelTLS {
  /// Tested once, on a connection made for this purpose, because the "upper layer protocol" can be set only on a connected socket
  /// (Documentation/networking/tls.rst of Linux).
  package static let isAvailable = probe()

  static func probe() -> Bool {
    guard let (near, far) = connectedPair() else { return false }
    defer {
      close(near)
      close(far)
    }
    return "tls".withCString { setsockopt(near, CInt(IPPROTO_TCP), CInt(TCP_ULP), $0, 4) == 0 }
  }

  /// The two ends of a TCP connection within this machine.
  private static func connectedPair() -> (CInt, CInt)? {
    let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let listener = socket(AF_INET, kind, 0)
    guard listener >= 0 else { return nil }
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let near = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { target -> CInt in
        guard pawl_bind(listener, target, length) == 0, listen(listener, 1) == 0,
          pawl_getsockname(listener, target, &length) == 0
        else { return -1 }
        let near = socket(AF_INET, kind, 0)
        guard near >= 0, pawl_connect(near, target, length) != 0 else { return near }
        close(near)
        return -1
      }
    }
    guard near >= 0 else { return nil }
    let far = pawl_accept_blocking(listener)
    if far < 0 { close(near) }
    return far < 0 ? nil : (near, far)
  }
}
