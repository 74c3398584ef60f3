import PawlCache
import PawlHTTP

extension LoopServices {
  /// Invalidates the stored responses that a successful unsafe request may have changed (RFC 9111 §4.4).
  ///
  /// Calls `done` afterwards: within this call, unless something has to be read from the catalogue first.
  func invalidate(after request: IncomingRequest, answer: ResponseHead, then done: @escaping () -> Void) {
    var waiting = 1
    let oneDone = {
      waiting -= 1
      if waiting == 0 { done() }
    }
    for target in invalidationTargets(request: request.head, response: answer) {
      let key = request.key(target)
      guard let store = router.route(authority: request.head.authority, target: target)?.cache,
        let resource = store.resource(for: key, create: false)
      else { continue }
      waiting += 1
      store.invalidate(resource, on: loop, oneDone)
    }
    for tree in outdatedTrees(request: request.head, response: answer) {
      for store in router.caches(authority: request.head.authority) {
        waiting += 1
        store.forgetAll(below: request.key(tree), on: loop, oneDone)
      }
    }
    oneDone()
  }
}
