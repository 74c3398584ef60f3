import CLinux
import Testing

@testable import PawlLoop

@Suite("Socket address") struct SocketAddressTests {
  @Test(
    "reads what it writes",
    arguments: [
      ("127.0.0.1:80", "127.0.0.1", 80, true), ("0.0.0.0:0", "0.0.0.0", 0, false),
      ("255.254.3.1:65535", "255.254.3.1", 65535, false), ("[::1]:443", "::1", 443, true),
      ("[::]:80", "::", 80, false), ("[2001:db8::ff]:8080", "2001:db8::ff", 8080, false),
      ("[fe80::1%1]:80", "fe80::1%1", 80, false), ("unix:/run/pawl.sock", "unix:/run/pawl.sock", 0, true),
      ("unix:@name", "unix:@name", 0, true), ("unix:relative:with:colons", "unix:relative:with:colons", 0, true),
    ])
  func reads(_ text: String, _ host: String, _ port: UInt16, _ isLoopback: Bool) throws {
    let address = try #require(SocketAddress.parse(text))
    #expect(address.description == text)
    #expect(address.hostText == host)
    #expect(address.port == port)
    #expect(address.isLoopback == isLoopback)
    #expect(roundTrip(address) == address)
  }

  @Test(
    "refuses",
    arguments: [
      "", ":", "80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:+1", "127.0.0.1:-1", "127.0.0.1: 80",
      "127.1:80", "127.0.0.256:80", "01.2.3.4:80", "localhost:80", "::1:80", "[::1]", "[::1]80", "[::1:80", "[]:80",
      "[127.0.0.1]:80", "[::1%]:80", "[::g]:80", "unix:", "unix:@", "unix:a\0b", "127.0.0.1:٣",
      "unix:" + String(repeating: "a", count: 108),
    ])
  func refuses(_ text: String) { #expect(SocketAddress.parse(text) == nil) }

  @Test("takes a unix path of 107 bytes")
  func takesLongPath() throws {
    let address = try #require(SocketAddress.parse("unix:" + String(repeating: "a", count: 107)))
    #expect(roundTrip(address) == address)
  }

  @Test("literals are addresses with or without brackets, never names")
  func readsLiterals() {
    #expect(SocketAddress.literal("10.0.0.1", port: 1)?.description == "10.0.0.1:1")
    #expect(SocketAddress.literal("::2", port: 1)?.description == "[::2]:1")
    #expect(SocketAddress.literal("[::2]", port: 1)?.description == "[::2]:1")
    for name in ["", "localhost", "10", "10.0.0", "[10.0.0.1]", "[]"] {
      #expect(SocketAddress.literal(name, port: 1) == nil)
    }
  }

  @Test("an IPv4 address inside IPv6 is the IPv4 address")
  func unwrapsMapped() throws {
    let mapped = try #require(SocketAddress.parse("[::ffff:192.0.2.7]:80"))
    #expect(roundTrip(mapped)?.description == "192.0.2.7:80")
  }

  @Test("an unnamed unix peer has an empty path, an unknown family no address")
  func readsOddities() {
    var storage = sockaddr_storage()
    storage.ss_family = sa_family_t(AF_UNIX)
    #expect(SocketAddress(storage, length: 2)?.description == "unix:")
    #expect(SocketAddress(storage, length: 0)?.description == "unix:")
    storage.ss_family = sa_family_t(AF_NETLINK)
    #expect(SocketAddress(storage, length: 12) == nil)
  }

  private func roundTrip(_ address: SocketAddress) -> SocketAddress? {
    address.withSockaddr { pointer, length in
      var storage = sockaddr_storage()
      withUnsafeMutableBytes(of: &storage) {
        $0.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: Int(length)))
      }
      return SocketAddress(storage, length: length)
    }
  }
}
