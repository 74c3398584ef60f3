/// The script that shows the values under the pointer at once. Without this script browsers show the same text after a moment.
enum HTMLScript {
  static let text = """
    "use strict";
    (function () {
      const box = document.getElementById("hint");
      const texts = new Map();
      for (const area of document.querySelectorAll("rect.hint")) {
        const title = area.querySelector("title");
        texts.set(area, title.textContent);
        title.remove();
      }
      document.addEventListener("pointermove", (event) => {
        const text = texts.get(event.target);
        box.hidden = text === undefined;
        if (box.hidden) return;
        const lines = text.split("\\n");
        box.replaceChildren(...lines.map((line, index) => {
          const row = document.createElement(index ? "div" : "b");
          row.textContent = line;
          return row;
        }));
        const left = event.clientX + 16 + box.offsetWidth > window.innerWidth;
        box.style.left = (left ? event.clientX - box.offsetWidth - 16 : event.clientX + 16) + "px";
        box.style.top = Math.min(event.clientY + 12, window.innerHeight - box.offsetHeight - 8) + "px";
      });
    })();
    """
}
