package import PawlLoop
import Testing

extension EventLoop {
  /// Turns the loop until `start`'s completion was called.
  package func result<R>(mayBeWithin: Bool = true, _ start: (@escaping (R) -> Void) -> Void) throws -> R {
    var result: R?
    start { result = $0 }
    #expect(mayBeWithin || result == nil, "completed within the call")
    turn { result == nil }
    return try #require(result)
  }
}
