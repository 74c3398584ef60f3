// An upload by URLSession as an application makes it. Usage: uploader (file|data) URL FILE
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@main
struct Uploader {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let url = URL(string: arguments[2]) else {
      FileHandle.standardError.write(Data("usage: uploader (file|data) URL FILE\n".utf8))
      exit(64)
    }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.connectionProxyDictionary = [:]
    let session = URLSession(configuration: configuration)
    var request = URLRequest(url: url, timeoutInterval: 30)
    request.httpMethod = "POST"
    request.setValue("video/mp4", forHTTPHeaderField: "Content-Type")
    let file = URL(fileURLWithPath: arguments[3])
    let end: @Sendable (Data?, URLResponse?, (any Error)?) -> Void = { data, response, error in
      let status = (response as? HTTPURLResponse)?.statusCode ?? 0
      if let error { FileHandle.standardError.write(Data("\(error)\n".utf8)) }
      FileHandle.standardOutput.write(data ?? Data())
      exit(error == nil && status == 200 ? 0 : 1)
    }
    let task =
      arguments[1] == "file"
      ? session.uploadTask(with: request, fromFile: file, completionHandler: end)
      : session.uploadTask(with: request, from: try? Data(contentsOf: file), completionHandler: end)
    task.resume()
    dispatchMain()
  }
}
