import CLinux
import PawlLoop
import PawlObserve
import PawlUploadStore

/// One try to have a new binary take over, on a thread of its own. Phases:
///
/// 1. The new binary is started by the path and with the arguments of this one. It inherits the listening sockets, reads its
///    configuration and keys, and says that only the stores are missing. This server goes on as if nothing happened.
/// 2. No delivery starts any more; those that run end here. After a short wait, those that still run are lent
///    (``LentDeliveries``). If a delivery that cannot be lent still runs after `drain-timeout`, the upgrade fails.
/// 3. This server accepts no more connections: they wait in the kernel. Uploads end at a synced offset, the stores are closed and
///    unlocked. Downloads go on from open files and through memory; this process writes nothing any more.
/// 4. The new binary opens the stores, accepts, and says so. This server drains.
///
/// If the new binary ends, or is late, it is killed, and this server goes on; after phase 3 it opens the stores again.
struct ServerUpgrade {
  /// The longest time until the new binary has read its configuration, and until it serves once the stores are free. Recovery of
  /// large stores after a crash takes the second one.
  static let prepareTime = Duration.seconds(60)
  static let serveTime = Duration.seconds(300)

  enum Outcome: Sendable {
    /// The new process serves, after this time without any accepting process. It records the steps of lent deliveries.
    case serves(pid_t, gap: Duration)
    case failed(String)
    /// The new process failed, and this one cannot open its stores any more.
    case lost(String)
  }

  let server: Server
  let arguments: [String]
  let deliveryTime: Duration
  /// The loop of the socket to the new process.
  let loop: EventLoop

  func perform() -> Outcome {
    let successor: Successor
    do throws(LoopError) {
      successor = try Successor.start(arguments.first ?? "pawl", arguments, sockets: server.handedSockets)
    } catch { return .failed("\(error)") }
    let canBorrow: Bool
    do throws(Successor.Silence) { canBorrow = try successor.awaitPrepared(within: Self.prepareTime) } catch {
      return .failed(Self.told(error, "before it was ready", successor))
    }
    guard server.holdDeliveries(within: deliveryTime, lending: canBorrow) else {
      _ = successor.end()
      server.releaseDeliveries()
      return .failed("a delivery of an upload still runs after drain-timeout")
    }
    if let why = StoreRoom.cannotOpen(server.configuration) {
      _ = successor.end()
      server.releaseDeliveries()
      return .failed(why)
    }
    let clock = SystemClock()
    let began = clock.now()
    let lender = canBorrow ? LentDeliveries() : nil
    let lent = server.handOver(lendingTo: lender)
    if canBorrow { successor.sayYours(lending: LentMessage.serialize(list: lent)) } else { successor.say(.yours) }
    do throws(Successor.Silence) {
      let pid = try successor.awaitServing(within: Self.serveTime)
      if let lender, let line = successor.takeLine() { server.lend(lender, over: line, on: loop) }
      return .serves(pid, gap: clock.now() - began)
    } catch {
      let why = Self.told(error, "before it served", successor)
      do throws(ServerError) { try server.takeBack(lent, from: lender) } catch {
        return .lost("\(why), and the stores cannot be opened again: \(error)")
      }
      return .failed(why)
    }
  }

  /// How long a new binary that says that it fails may take to end.
  static let endPatience = Duration.seconds(2)

  /// Ends the new binary, and says why there is no upgrade.
  private static func told(_ silence: Successor.Silence, _ moment: String, _ successor: Successor) -> String {
    switch silence {
    case .ended: "the new binary ended \(moment) (\(successor.end()))"
    case .late: "the new binary took too long \(moment) (\(successor.end()))"
    case .failed(let why): "the new binary ended \(moment) (\(successor.end(patience: endPatience))): \(why)"
    }
  }
}
