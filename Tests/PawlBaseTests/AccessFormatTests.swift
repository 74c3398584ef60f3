import PawlBase
import Testing

@Suite("Format of the access log") struct AccessFormatTests {
  private func pieces(_ source: String) throws -> [String] {
    let format = try AccessFormat(source)
    return format.pieces.map { piece in
      switch piece {
      case .text(let range): String(decoding: format.text[range], as: UTF8.self)
      case .variable(let variable): "$\(variable.rawValue)"
      case .requestField(let index): "<\(format.requestFields[index])"
      case .responseField(let index): ">\(format.responseFields[index])"
      }
    }
  }

  @Test(
    "is text and variables",
    arguments: [
      ("$remote_addr - $remote_user", ["$remote_addr", " - ", "$remote_user"]),
      ("[${time_local}]x", ["[", "$time_local", "]x"]),
      ("$http_x_forwarded_for$http_Accept", ["<x-forwarded-for", "<accept"]),
      ("$http_a $http_a", ["<a", " ", "<a"]), ("$sent_http_content_type", [">content-type"]),
      ("$http_referer$http_user_agent$http_host", ["$http_referer", "$http_user_agent", "$http_host"]),
      ("'$status' \"-\" '\\'\\\\\\t'", ["$status", "-'\\\t"]),
      ("escape=json {\"a\":\"$uri\"}", ["{\"a\":\"", "$uri", "\"}"]),
    ])
  func parts(_ source: String, _ expected: [String]) throws { #expect(try pieces(source) == expected) }

  @Test("knows how values are escaped")
  func escaping() throws {
    #expect(try AccessFormat("$status").escaping == .plain)
    #expect(try AccessFormat("escape=json $status").escaping == .json)
    #expect(try AccessFormat("escape=none '$status'").escaping == .none)
    #expect(try AccessFormat("escape=default $status").escaping == .plain)
  }

  @Test(
    "is refused with what is wrong about it",
    arguments: [
      ("$nothing", .unknown("nothing")), ("$http_", .unknown("http_")), ("$http_cookie", .secret("http_cookie")),
      ("$http_Proxy_Authorization", .secret("http_Proxy_Authorization")),
      ("$sent_http_set_cookie", .secret("sent_http_set_cookie")), ("5 $", .malformed("$")),
      ("$http_private_token", .secret("http_private_token")), ("$http_Private_Token", .secret("http_Private_Token")),
      ("$http_x_amz_security_token", .secret("http_x_amz_security_token")),
      ("$http_sec_websocket_protocol", .secret("http_sec_websocket_protocol")),
      ("$sent_http_authentication_info", .secret("sent_http_authentication_info")),
      ("$http_apikey", .secret("http_apikey")), ("$http_x_client_secret", .secret("http_x_client_secret")),
      ("${status", .malformed("${")), ("'$status", .malformed("' without its end")), ("'a' b", .malformed("b")),
      ("escape=x $status", .malformed("escape=x")),
    ] as [(String, AccessFormat.Mistake)])
  func refused(_ source: String, _ mistake: AccessFormat.Mistake) {
    #expect(throws: mistake) { try AccessFormat(source) }
  }

  @Test(
    "takes fields whose names only resemble those of secrets",
    arguments: ["$http_x_tokens", "$http_tokenizer", "$http_upload_token_id"])
  func harmless(_ source: String) throws {
    #expect(try AccessFormat(source).requestFields.count == 1)
  }

  @Test("says whether values have to be collected for it")
  func extras() throws {
    #expect(!(try AccessFormat("$remote_addr $request $status $http_referer $pawl_cache").hasExtras))
    for source in ["$bytes_sent", "$http_accept", "$sent_http_etag", "$upstream_addr", "$scheme"] {
      #expect(try AccessFormat(source).hasExtras)
    }
  }
}
