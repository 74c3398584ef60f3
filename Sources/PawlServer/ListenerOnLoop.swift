import PawlConfig
import PawlLoop
import PawlWire

/// One listening address on one loop, with the parser that its connections share.
final class ListenerOnLoop {
  struct Settings {
    var headerTimeout: Duration
    var keepaliveTimeout: Duration
    var sendTimeout: Duration
    var maxHeader: Int
    /// `nil`: clients may not speak HTTP/2.
    var http2: HTTP2Settings?
  }

  let settings: Settings
  var parser: RequestParser
  private let listener: Listener
  private var parserUser: ObjectIdentifier?

  init(_ listener: Listener, settings: PawlConfig.ListenerSettings) {
    self.listener = listener
    self.settings = Settings(
      headerTimeout: settings.headerTimeout, keepaliveTimeout: settings.keepaliveTimeout,
      sendTimeout: settings.sendTimeout, maxHeader: Int(settings.maxHeader),
      http2: settings.http2 ? HTTP2Settings(settings) : nil)
    parser = RequestParser(
      limits: HeadLimits(maxHead: Int(settings.maxHeader), maxFields: settings.maxHeaderFields))
  }

  /// The parser goes on where it was only within one connection's head.
  func lendParser(to connection: ClientConnection) {
    guard parserUser != ObjectIdentifier(connection) else { return }
    parserUser = ObjectIdentifier(connection)
    parser.reset()
  }

  /// The connection is gone; another one may get its identity.
  func takeParser(from connection: ClientConnection) {
    if parserUser == ObjectIdentifier(connection) { parserUser = nil }
  }

  /// The port clients reach; 80 where there is none.
  var port: UInt16 { listener.boundAddress.isUnix ? 80 : listener.boundAddress.port }

  func close() { listener.close() }
}

extension HTTP2Settings {
  fileprivate init(_ settings: PawlConfig.ListenerSettings) {
    self.init()
    head = HeadLimits(maxHead: Int(settings.maxHeader), maxFields: settings.maxHeaderFields)
    maxStreams = settings.maxStreams
    maxWindow = Int(settings.maxWindow)
  }
}
