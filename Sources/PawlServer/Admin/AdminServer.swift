import CLinux
import PawlBase
import PawlCertificates
import PawlConfig
import PawlDisk
import PawlLoop
import PawlObserve
import PawlTLS

/// The admin interface of the process: its own loop and thread, so that it answers while others are busy. Started and stopped on
/// the main thread; any thread may ask what it is bound to.
final class AdminServer: Sendable {
  static let threadName = "pawl-admin"
  static let listenerName = "admin"
  /// The error of a socket path that the kernel has no room for.
  static let tooLong = ENAMETOOLONG
  /// How often an address that is in use by the process before this one is tried again.
  static let retryPause = Duration.milliseconds(100)

  private let loop: EventLoop
  private let thread: LoopThread
  private let admin: LoopBound<AdminLoop>
  private let services: SharedServices
  private let certificates = Locked<Certificates?>(nil)
  private let bound = Locked<[ListenAddress: SocketAddress]>([:])
  /// What the sockets were made with; if it changes, they are made anew.
  private let made = Locked(Make(tls: nil, mode: FileMode(0)))

  private struct Make: Equatable {
    var tls: String?
    var mode: FileMode
  }

  /// What becomes of an address that cannot be had.
  private enum Attempt {
    /// The process starts: an address that is written in the configuration is an error. A successor waits for those that the
    /// process before it has.
    case start(isSuccessor: Bool)
    /// It is logged, and left out.
    case reload
  }

  /// Starts the thread, and listens.
  /// - Parameter isSuccessor: whether the process takes over from another one, which has the addresses until it ends.
  /// - Throws: ``ServerError/address(_:_:)`` for an address that is written in the configuration. If the default socket cannot be
  ///   made, that is logged only, since everything else works without it.
  init(
    _ configuration: PawlConfig.Configuration, _ services: SharedServices, actions: any AdminActions,
    isSuccessor: Bool = false
  ) throws(ServerError) {
    self.services = services
    do throws(LoopError) {
      (loop, thread) = try EventLoop.startThread(index: -2, name: Self.threadName, clock: services.clock)
    } catch { throw .system("cannot start the loop of [admin]: \(error)") }
    let (loop, settings, bound) = (loop, configuration.admin, bound)
    guard
      let admin = loop.answer({ () -> LoopBound<AdminLoop> in
        LoopBound(AdminLoop(settings, loop: loop, shared: services, actions: actions, bound: bound), on: loop)
      })
    else { throw .system("the loop of [admin] ended") }
    self.admin = admin
    do throws(ServerError) { try listen(configuration, .start(isSuccessor: isSuccessor)) } catch {
      stop()
      throw error
    }
  }

  /// The addresses that are listened on.
  var addresses: [SocketAddress] { bound.withLock { Array($0.values) } }

  private func listen(_ configuration: PawlConfig.Configuration, _ attempt: Attempt) throws(ServerError) {
    let settings = configuration.admin
    let certificates = try readCertificates(configuration)
    made.withLock { $0 = Make(tls: settings.tls, mode: settings.mode) }
    let isDefault = configuration.place(of: "listen", in: "admin") == .builtIn
    if isDefault { makeDirectory(configuration.process.stateDirectory) }
    for address in settings.listen where bound.withLock({ $0[address] }) == nil {
      let result = loop.answer { [admin] in
        admin.get().listen(on: address, settings, certificates: certificates)
      }
      guard case .failure(let error) = result ?? .failure(.system(call: "listen", code: ECANCELED)) else { continue }
      switch (attempt, error) {
      case (.start(isSuccessor: true), .addressInUse):
        loop.run { [admin] in admin.get().listenLater(on: address, settings, certificates: certificates) }
      case (.start, _) where !isDefault: throw .address(address.description, error.description)
      default:
        services.events.log(
          .warning, "admin-not-listening", ["address": address.description, "why": error.description])
      }
    }
  }

  private func readCertificates(_ configuration: PawlConfig.Configuration) throws(ServerError) -> ListenerCertificates?
  {
    guard let name = configuration.admin.tls else { return nil }
    var listener = PawlConfig.ListenerSettings(name: Self.listenerName)
    (listener.tls, listener.http2) = ([name], false)
    var only = configuration
    only.listeners = [listener]
    do throws(TLSProblem) {
      if let known = certificates.withLock({ $0 }), made.withLock({ $0.tls }) != nil {
        known.use(try known.prepare(only))
        return known.of(listener)
      }
      let made = try Certificates(only, events: services.events, clock: services.clock)
      certificates.withLock { $0 = made }
      loop.run { [admin] in admin.get().watch(made) }
      return made.of(listener)
    } catch { throw .certificates("[admin] \(error)", file: error.file) }
  }

  private func makeDirectory(_ path: String) {
    do throws(StoreError) { try Files.makeDirectories(path) } catch {
      services.events.log(.warning, "admin-not-listening", ["address": path, "why": "\(error)"])
    }
  }

  // MARK: - Reloading

  /// Takes the settings of a new configuration: listens on new addresses, closes those that are gone, and knows the new token.
  /// An address that cannot be had is logged, and left out. Blocking; never on a loop of its own.
  func reload(_ configuration: PawlConfig.Configuration) {
    let settings = configuration.admin
    let level = LogLevel(configuration.process.logLevel.rawValue) ?? .info
    let isSame = made.withLock { $0 == Make(tls: settings.tls, mode: settings.mode) }
    let kept = isSame ? settings.listen : []
    _ = loop.answer { [admin] in admin.get().take(settings, level, keeping: kept) }
    do throws(ServerError) { try listen(configuration, .reload) } catch {
      services.events.log(.error, "admin-not-listening", ["address": "-", "why": error.description])
    }
  }

  // MARK: - Ending

  /// Stops listening, so that a successor can have the addresses. Running requests go on.
  func closeListeners() {
    loop.run { [admin] in admin.get().closeListeners() }
  }

  /// Cuts running requests, and ends the thread. Blocking.
  func stop() {
    loop.run { [admin] in admin.get().end() }
    loop.stop()
    thread.join()
  }
}
