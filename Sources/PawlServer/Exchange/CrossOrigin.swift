import PawlHTTP
import PawlUpload

extension IncomingRequest {
  /// Adds the CORS fields (`cors`), which let web pages of other sites read responses about uploads, and no other responses.
  func dressForOthers(_ head: inout ResponseHead) {
    guard let cors = route.uploads?.cors else { return }
    if isBelowPrefix || !self.head.method.isRetrieval && CORSPolicy.isAboutUploads(self.head.fields) {
      cors.dress(&head, for: self.head.fields)
    }
  }
}
