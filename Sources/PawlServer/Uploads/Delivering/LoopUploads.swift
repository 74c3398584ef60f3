import PawlBase
import PawlLoop
import PawlObserve
import PawlUploadStore

/// The bodies of responses to uploads that are longer than `response-max`, for the clients that wait for them. Shared by all
/// loops.
typealias OversizedResponses = Locked<[UploadID: OversizedResponse]>

/// What uploads have on one loop: the delivery queue, and the probes of origins. Touched on that loop only.
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
