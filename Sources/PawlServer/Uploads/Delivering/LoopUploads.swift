import PawlBase
import PawlLoop
import PawlObserve
import PawlUploadStore

/// Answers to uploads that are too long to be kept, for clients that wait for them: of all loops.
typealias SpilledAnswers = Locked<[UploadID: SpilledAnswer]>

/// What uploads keep for one loop: completed ones on their way, and questions that origins are asked. Touched on that loop only.
final class LoopUploads {
  let services: LoopServices
  let loop: EventLoop
  let spilledAnswers: SpilledAnswers
  private(set) lazy var queue = DeliveryQueue(self)
  var probes: [ProbeMemory.Key: OriginProbe] = [:]

  var events: EventLog { services.events }
  var pool: WorkerPool { services.pool }

  init(_ services: LoopServices, spilledAnswers: SpilledAnswers) {
    (self.services, loop, self.spilledAnswers) = (services, services.loop, spilledAnswers)
  }
}
