// A URLSession data task that resumes by hand, with the header fields three libraries send.
// Usage: client (nuke|alamofire|realhttp) URL FILE
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Which fields a library adds to a resumed request.
enum Style: String {
  case nuke, alamofire, realhttp

  func prepare(_ request: inout URLRequest) {
    switch self {
    case .nuke: break
    case .alamofire:
      request.setValue("br;q=1.0, gzip;q=0.9, deflate;q=0.8", forHTTPHeaderField: "Accept-Encoding")
      request.setValue("en;q=1.0", forHTTPHeaderField: "Accept-Language")
      request.setValue("Client/1.0 (Linux) Alamofire/5.12.0", forHTTPHeaderField: "User-Agent")
    case .realhttp:
      request.setValue("gzip;q=1.0, compress;q=0.5", forHTTPHeaderField: "Accept-Encoding")
      request.setValue("RealHTTP/1.9.0", forHTTPHeaderField: "User-Agent")
    }
  }

  /// Nuke resumes only what announced ranges, had a tag or a date, and a length beyond what came.
  func mayResume(_ response: HTTPURLResponse, received: Int64) -> Bool {
    guard response.statusCode == 200 || response.statusCode == 206 else { return false }
    guard self == .nuke else { return true }
    return response.value(forHTTPHeaderField: "Accept-Ranges")?.lowercased() == "bytes"
      && response.expectedContentLength > 0 && received > 0
  }

  func validator(_ response: HTTPURLResponse) -> String? {
    let tag = response.value(forHTTPHeaderField: "ETag")
    let date = response.value(forHTTPHeaderField: "Last-Modified")
    return self == .realhttp ? date ?? tag : tag ?? date
  }
}

final class Download: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  let style: Style
  let url: URL
  let file: FileHandle
  let done = DispatchSemaphore(value: 0)
  var received: Int64 = 0
  var validator: String?
  var tries = 0
  var failure: String?

  init(style: Style, url: URL, file: FileHandle) {
    self.style = style
    self.url = url
    self.file = file
  }

  func begin(_ session: URLSession) {
    tries += 1
    guard tries <= 12 else { return end("too many tries") }
    var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 20)
    style.prepare(&request)
    if received > 0, let validator {
      request.setValue("bytes=\(received)-", forHTTPHeaderField: "Range")
      request.setValue(validator, forHTTPHeaderField: "If-Range")
    }
    session.dataTask(with: request).resume()
  }

  func end(_ failure: String?) {
    self.failure = failure
    done.signal()
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    guard let answer = response as? HTTPURLResponse else { return completionHandler(.cancel) }
    switch answer.statusCode {
    case 200:
      received = 0
      file.truncateFile(atOffset: 0)
    case 206:
      let range = answer.value(forHTTPHeaderField: "Content-Range") ?? ""
      guard range.hasPrefix("bytes \(received)-") else {
        end("Content-Range \(range) at \(received)")
        return completionHandler(.cancel)
      }
    default:
      end("status \(answer.statusCode)")
      return completionHandler(.cancel)
    }
    if answer.statusCode == 200 || validator == nil { validator = style.validator(answer) }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    file.write(data)
    received += Int64(data.count)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard failure == nil else { return }
    guard error != nil else { return end(nil) }
    guard let answer = task.response as? HTTPURLResponse else { return begin(session) }
    if !style.mayResume(answer, received: received) {
      FileHandle.standardError.write(Data("cannot be resumed: \(answer.allHeaderFields)\n".utf8))
      validator = nil
    }
    begin(session)
  }
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let style = Style(rawValue: arguments[1]), let url = URL(string: arguments[2]) else {
  FileHandle.standardError.write(Data("usage: client (nuke|alamofire|realhttp) URL FILE\n".utf8))
  exit(64)
}
FileManager.default.createFile(atPath: arguments[3], contents: nil)
guard let file = FileHandle(forWritingAtPath: arguments[3]) else { exit(74) }
let configuration = URLSessionConfiguration.ephemeral
configuration.connectionProxyDictionary = [:]
let queue = OperationQueue()
queue.maxConcurrentOperationCount = 1
let download = Download(style: style, url: url, file: file)
let session = URLSession(configuration: configuration, delegate: download, delegateQueue: queue)
download.begin(session)
download.done.wait()
if let failure = download.failure {
  FileHandle.standardError.write(Data("\(failure)\n".utf8))
  exit(1)
}
