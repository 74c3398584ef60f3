import PawlCertificates
import PawlConfig
import PawlLoop
import PawlWire

/// One listening address on one loop, with the parser that its connections share. A reload changes its settings. Where connections
/// begin otherwise from then on (TLS, PROXY protocol), another object takes over the socket, and present connections keep this one.
final class ListenerOnLoop {
  struct Settings: Hashable {
    var headerTimeout: Duration
    var keepaliveTimeout: Duration
    var sendTimeout: Duration
    var maxHeader: Int
    var maxHeaderFields: Int
    var proxyProtocol: Bool
    /// `nil`: clients may not speak HTTP/2.
    var http2: HTTP2Settings?
    /// The path of a probe that pawl answers itself.
    var healthPath: [UInt8]?
  }

  /// The number of the address (``BoundListener/id``).
  let id: Int
  @exclusivity(unchecked) private(set) var settings: Settings
  /// The certificates that pawl shows to clients of this address; `nil`: no TLS.
  let certificates: ListenerCertificates?
  @exclusivity(unchecked) private var parser: RequestParser
  private let listener: Listener
  /// The address as the configuration has it.
  let name: String
  private var parserUser: ObjectIdentifier?
  var earlyRead = EarlyRead()

  init(
    _ listener: Listener, id: Int, name: String, settings: PawlConfig.ListenerSettings,
    certificates: ListenerCertificates?
  ) {
    (self.listener, self.id, self.name, self.certificates) = (listener, id, name, certificates)
    self.settings = Settings(settings)
    parser = RequestParser(limits: self.settings.limits)
  }

  /// Makes the object that accepts on the socket of another one from now on.
  convenience init(
    replacing old: ListenerOnLoop, settings: PawlConfig.ListenerSettings, certificates: ListenerCertificates?
  ) {
    self.init(
      old.listener, id: old.id, name: old.name, settings: settings, certificates: certificates)
  }

  /// Uses other settings from now on: for new connections, and for the next requests on present ones.
  /// - Returns: `false`, and nothing is changed, if connections begin otherwise with these settings.
  func take(_ new: PawlConfig.ListenerSettings, _ certificates: ListenerCertificates?) -> Bool {
    let new = Settings(new)
    guard certificates === self.certificates, new.proxyProtocol == settings.proxyProtocol else { return false }
    if new.limits != settings.limits { (parser, parserUser) = (RequestParser(limits: new.limits), nil) }
    settings = new
    return true
  }

  /// Passes each accepted connection to `accepted` from now on.
  func whenAccepted(
    _ accepted: @escaping (CInt, SocketAddress, ListenerOnLoop) -> Void,
    trouble: @escaping (Listener.Trouble) -> Void
  ) {
    listener.onAccept = { [unowned self] descriptor, peer in accepted(descriptor, peer, self) }
    listener.onTrouble = trouble
  }

  func start() throws(LoopError) { try listener.start() }

  /// Lends the shared parser to a connection. While only one connection uses the parser, it keeps its position in an incomplete
  /// head. For another connection it is reset, and parses the head from the start.
  func lendParser(to connection: some ServedConnection, isSecure: Bool) {
    guard parserUser != ObjectIdentifier(connection) else { return }
    parserUser = ObjectIdentifier(connection)
    parser.reset()
    parser.isSecure = isSecure
  }

  /// Calls `body` with the stored parser. A method call on a property of a class would work on a copy.
  @inline(__always) func withParser<Result>(_ body: (inout RequestParser) -> Result) -> Result { body(&parser) }

  /// Forgets that a closed connection was the last to use the parser, because another connection may get the same memory address,
  /// and so the same identity.
  func takeParser(from connection: some ServedConnection) {
    if parserUser == ObjectIdentifier(connection) { parserUser = nil }
  }

  /// The port that clients connect to; the default port of the scheme for a unix socket.
  var port: UInt16 {
    guard listener.boundAddress.isUnix else { return listener.boundAddress.port }
    return certificates == nil ? 80 : 443
  }

  /// Whether connections begin with something other than HTTP: the PROXY protocol or a TLS handshake.
  var opensFirst: Bool { settings.proxyProtocol || certificates != nil }

  /// Accepts all connections that wait, before the listener is closed.
  func acceptRest() { listener.acceptRest() }

  func close() { listener.close() }

  func allowSharing() { listener.allowSharing() }

  // MARK: - A new binary takes over

  func pause() { listener.pause() }
  func resume() throws(LoopError) { try listener.start() }
  func leavePath() { listener.leavePath() }
  var descriptor: CInt { listener.passedDescriptor }
  var ownsFile: Bool { listener.ownsFile }
}

extension ListenerOnLoop.Settings {
  init(_ settings: PawlConfig.ListenerSettings) {
    self.init(
      headerTimeout: settings.headerTimeout, keepaliveTimeout: settings.keepaliveTimeout,
      sendTimeout: settings.sendTimeout, maxHeader: Int(settings.maxHeader),
      maxHeaderFields: settings.maxHeaderFields, proxyProtocol: settings.proxyProtocol,
      http2: settings.http2 ? HTTP2Settings(settings) : nil, healthPath: settings.healthPath.map { Array($0.utf8) })
  }

  var limits: HeadLimits { HeadLimits(maxHead: maxHeader, maxFields: maxHeaderFields) }
}

extension HTTP2Settings {
  fileprivate init(_ settings: PawlConfig.ListenerSettings) {
    self.init()
    head = HeadLimits(maxHead: Int(settings.maxHeader), maxFields: settings.maxHeaderFields)
    maxStreams = settings.maxStreams
    maxWindow = Int(settings.maxWindow)
  }
}
