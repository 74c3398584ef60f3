import Testing

@testable import PawlBench

@Suite("Text in pages") struct HTMLTextTests {
  @Test(
    "cannot end an element or an attribute, nor hold what no document may hold",
    arguments: [
      ("<script>alert('1')</script>", "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"),
      ("\"&amp;", "&quot;&amp;amp;"),
      ("a\0b\u{1b}\u{9f}\u{fffe}\u{1ffff}\n\té😀", "a\u{fffd}b\u{fffd}\u{fffd}\u{fffd}\u{fffd}\n\té😀"), ("", ""),
    ])
  func escaped(_ text: String, _ expected: String) { #expect(HTMLText.escaped(text) == expected) }
}
