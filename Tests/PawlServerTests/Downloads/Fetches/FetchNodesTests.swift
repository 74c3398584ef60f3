import PawlCache
import PawlHTTP
import Testing

@testable import PawlServer

@Suite("Which node a content comes from") struct FetchNodesTests {
  private func head(_ tag: String) -> ResponseHead {
    var fields = Fields()
    fields.append(.etag, Array(tag.utf8))
    return ResponseHead(status: 200, fields: fields)
  }

  private func identity(_ tag: String) -> RepresentationIdentity {
    RepresentationIdentity(head: head(tag), framing: .length(9), receivedAt: 0)
  }

  /// A head comes from there, and is not what is held.
  private func disagrees(_ url: Int?, _ nodes: FetchNodes) -> Bool {
    nodes.answers(url)
    return nodes.disagrees()
  }

  @Test("with one URL it says nothing")
  func one() {
    let nodes = FetchNodes(count: 1)
    nodes.answered(by: 0)
    let mayAsk = disagrees(0, nodes)
    #expect(nodes.preferred == nil && !nodes.isOther(0) && !mayAsk)
  }

  @Test("the node that began it is asked first, until it has something else; then those that have not said so")
  func preferred() {
    let nodes = FetchNodes(count: 3)
    #expect(nodes.preferred == nil && nodes.isOther(0))
    nodes.answered(by: 1)
    #expect(nodes.preferred == 1 && !nodes.isOther(1) && nodes.isOther(0))
    var mayAsk = disagrees(1, nodes)
    #expect(mayAsk && nodes.preferred == 0)
    mayAsk = disagrees(0, nodes)
    #expect(mayAsk && nodes.preferred == 2)
    mayAsk = disagrees(2, nodes)
    #expect(!mayAsk)
    let isNews = nodes.progressed(known: nil)
    #expect(!isNews && nodes.preferred == 1)
  }

  @Test("another's validators count once what it gave was equal up to something new, and not before")
  func switched() {
    let nodes = FetchNodes(count: 2)
    nodes.answered(by: 0)
    nodes.compares(1, head("\"b\""), .length(9), total: 9, receivedAt: 0)
    #expect(nodes.identity == nil && nodes.preferred == 0)
    nodes.attemptEnded()
    var isNews = nodes.progressed(known: identity("\"a\""))
    #expect(!isNews && nodes.identity == nil)
    nodes.compares(1, head("\"b\""), .length(9), total: 9, receivedAt: 0)
    isNews = nodes.progressed(known: identity("\"a\""))
    #expect(isNews && nodes.identity?.tag == EntityTag(Bytes("\"b\"")) && nodes.identity?.total == 9)
    #expect(nodes.preferred == 1 && nodes.isOther(0))
    nodes.compares(0, head("\"a\""), .length(9), total: 9, receivedAt: 0)
    isNews = nodes.progressed(known: identity("\"a\""))
    #expect(!isNews && nodes.preferred == 0)
  }

  @Test("the same tag elsewhere is no news")
  func sameTag() {
    let nodes = FetchNodes(count: 2)
    nodes.answered(by: 0)
    nodes.compares(1, head("\"a\""), .length(9), total: 9, receivedAt: 0)
    let isNews = nodes.progressed(known: identity("\"a\""))
    #expect(!isNews && nodes.preferred == 1)
  }
}
