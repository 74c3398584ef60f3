import PawlHTTP
import PawlUpload

extension IncomingRequest {
  /// What pages of other origins may read of the answer (`cors`): what is about uploads, and nothing else of the origin.
  func dressForOthers(_ head: inout ResponseHead) {
    guard let cors = route.uploads?.cors else { return }
    if isBelowPrefix || !self.head.method.isRetrieval && CORSPolicy.isAboutUploads(self.head.fields) {
      cors.dress(&head, for: self.head.fields)
    }
  }
}
