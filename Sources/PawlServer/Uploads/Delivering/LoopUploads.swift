import PawlBase
import PawlLoop
import PawlObserve
import PawlUploadStore

/// The response bodies that are longer than `response-max`, by upload, for the clients that wait for these responses. Shared by
/// all loops.
typealias OversizedResponses = Locked<[UploadID: OversizedResponse]>

/// The state of uploads on one loop: the delivery queue, and the probes of origins. Used on that loop only.
final class LoopUploads {
  let services: LoopServices
  let loop: EventLoop
  let oversizedResponses: OversizedResponses
  private(set) lazy var queue = DeliveryQueue(self)
  var probes: [ProbeMemory.Key: OriginProbe] = [:]

  var events: EventLog { services.events }
  var pool: WorkerPool { services.pool }

  init(_ services: LoopServices, oversizedResponses: OversizedResponses) {
    (self.services, loop, self.oversizedResponses) = (services, services.loop, oversizedResponses)
  }
}
