import PawlConfig
import PawlLoop
import Testing

@testable import PawlServer

@Suite("Which listeners stay, begin and end") struct BoundListenerTests {
  private func settings(_ name: String, _ addresses: ListenAddress...) -> PawlConfig.ListenerSettings {
    var settings = PawlConfig.ListenerSettings(name: name)
    settings.addresses = addresses
    return settings
  }

  private func listener(_ id: Int, _ address: ListenAddress, port: UInt16? = nil) throws -> BoundListener {
    let bound = try #require(SocketAddress.parse(address.description))
    return BoundListener(
      id: id, configured: address, bound: port.map(bound.withPort) ?? bound, settings: settings("old", address))
  }

  @Test("an address stays whatever its section is called, also where the kernel chose the port")
  func stay() throws {
    let any = ListenAddress.internet(host: "127.0.0.1", port: 0)
    let (web, socket) = (ListenAddress.internet(host: "::1", port: 80), ListenAddress.unix(path: "/run/a"))
    let present = [try listener(1, any, port: 4711), try listener(2, web), try listener(3, any, port: 4712)]
    let plan = ListenerPlan([settings("a", web, any), settings("b", any, any, socket)], present: present)
    #expect(plan.wanted.map(\.id) == [2, 1, 3, nil, nil])
    #expect(plan.wanted.map(\.settings.name) == ["a", "a", "b", "b", "b"] && plan.ending.isEmpty)
    let less = ListenerPlan([settings("a", any)], present: present)
    #expect(less.wanted.map(\.id) == [1] && less.ending.map(\.id) == [2, 3])
  }

  @Test("only one that ends, on the same port, may keep an address from being bound")
  func rivals() throws {
    let (all, one) = (
      ListenAddress.internet(host: "0.0.0.0", port: 80), ListenAddress.internet(host: "127.0.0.1", port: 80)
    )
    let present = [
      try listener(1, one), try listener(2, .internet(host: "127.0.0.1", port: 81)), try listener(3, .unix(path: "/s")),
    ]
    let plan = ListenerPlan([settings("a", all)], present: present)
    #expect(plan.rivals(of: try #require(.parse("0.0.0.0:80"))).map(\.id) == [1])
    #expect(plan.rivals(of: try #require(.parse("0.0.0.0:0"))).isEmpty)
    let both = ListenerPlan([settings("a", all, one)], present: present)
    #expect(both.rivals(of: try #require(.parse("0.0.0.0:80"))).isEmpty)
  }
}
