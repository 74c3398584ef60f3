/// The style of the page. Colour-blind readers can distinguish the colours of the results, on white and on black.
enum HTMLStyle {
  static let text = light + "\n" + dark + "\n" + page + "\n" + tiles + "\n" + plots + "\n" + tables + "\n" + print

  private static let light = """
    :root {
      --back: #f5f6f8; --card: #ffffff; --text: #14181d; --soft: #5a6572; --rule: #dde2e8; --grid: #e8ebef;
      --right: #0b6b4f; --right-back: #e3f4ee; --wrong: #a3260b; --wrong-back: #fdeae4; --better: #0b6b4f; --worse: #a3450b;
      --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #7b2d8b; --c4: #cc9a00; --c5: #4aa8dc; --c6: #5c0f2e; --c7: #6b7580;
    }
    """

  private static let dark = """
    @media screen and (prefers-color-scheme: dark) {
      :root {
        --back: #0e1216; --card: #161b21; --text: #e9edf1; --soft: #9aa6b2; --rule: #2a323b; --grid: #232a32;
        --right: #6fd6b2; --right-back: #12302a; --wrong: #ff9c80; --wrong-back: #3a1c14; --better: #6fd6b2; --worse: #ffab75;
        --c0: #3d9ff0; --c1: #ff7a33; --c2: #25c79a; --c3: #e8b0f5; --c4: #f7d154; --c5: #a9e4ff; --c6: #e0457b; --c7: #8e99a5;
      }
    }
    """

  private static let page = """
    * { box-sizing: border-box; }
    body {
      margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto,
      "Helvetica Neue", "Noto Sans", "Liberation Sans", Arial, sans-serif; font-variant-numeric: tabular-nums;
      -webkit-text-size-adjust: 100%;
    }
    main { max-width: 1140px; margin: 0 auto; padding: 40px 24px 48px; }
    h1, h2, h3, p, ul, figure { margin: 0; padding: 0; }
    h1 { font-size: 32px; line-height: 1.2; font-weight: 650; letter-spacing: -0.02em; overflow-wrap: anywhere; }
    h2 { font-size: 20px; font-weight: 650; letter-spacing: -0.01em; margin: 40px 0 14px; }
    h3 { font-size: 14px; font-weight: 600; }
    code { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; overflow-wrap: anywhere; }
    .label { unicode-bidi: isolate; overflow-wrap: anywhere; }
    .over { color: var(--soft); font-size: 13px; font-weight: 600; margin-bottom: 6px; }
    .over span { font-weight: 400; padding-left: 8px; margin-left: 6px; border-left: 1px solid var(--rule); }
    .runs { list-style: none; margin-top: 20px; border: 1px solid var(--rule); border-radius: 10px; background: var(--card); }
    .runs li { display: flex; gap: 14px; align-items: center; padding: 12px 16px; flex-wrap: wrap; }
    .runs li + li { border-top: 1px solid var(--rule); }
    .runs li > div { flex: 1 1 300px; }
    .runs code { margin-left: 6px; }
    .runs .when { display: block; color: var(--soft); font-size: 13px; }
    .verdict { font-size: 13px; padding: 4px 12px; border-radius: 14px; white-space: nowrap; }
    .verdict.right { color: var(--right); background: var(--right-back); }
    .verdict.wrong { color: var(--wrong); background: var(--wrong-back); font-weight: 600; }
    footer { margin-top: 36px; padding-top: 16px; border-top: 1px solid var(--rule); color: var(--soft); font-size: 13px; }
    footer p { max-width: 80ch; }
    \((0..<HTMLReport.colours).map { ".s\($0) { --c: var(--c\($0)); }" }.joined(separator: " "))
    .sample { width: 26px; height: 12px; flex: none; }
    .line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
    .mark { fill: var(--c); stroke: var(--card); stroke-width: 1.2; }
    .hollow { fill: var(--card); stroke: var(--c); stroke-width: 1.8; }
    """

  private static let tiles = """
    .tiles { display: grid; gap: 12px; grid-template-columns: repeat(var(--n), minmax(0, 1fr)); }
    .tiles.several { grid-template-columns: repeat(auto-fill, minmax(min(100%, 440px), 1fr)); }
    .tile { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 14px 16px; min-width: 0; }
    .tile h3 { color: var(--soft); font-weight: 500; font-size: 13px; }
    .tile h3 small { font-size: 12px; float: right; opacity: 0.85; }
    .value { font-size: 30px; line-height: 1.25; font-weight: 600; letter-spacing: -0.02em; margin-top: 2px; }
    .value small { font-size: 16px; font-weight: 500; color: var(--soft); margin-left: 4px; letter-spacing: 0; }
    .tile table { width: 100%; border-collapse: collapse; margin-top: 6px; font-size: 14px; table-layout: fixed; }
    .tile th { width: 27%; text-align: left; font-weight: 500; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .tile td { width: 20%; text-align: right; white-space: nowrap; padding: 2px 0; }
    .tile td.bar { width: auto; padding: 0 8px; }
    .tile td.ratio { width: 14%; }
    .tile tr.best td:nth-child(3) { font-weight: 650; }
    .bar svg { display: block; width: 100%; height: 10px; }
    .fill { fill: var(--c); }
    .ratio { color: var(--soft); }
    """

  private static let plots = """
    .plots { display: grid; gap: 12px; grid-template-columns: repeat(2, minmax(0, 1fr)); }
    .plot { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 14px 16px 8px; }
    .plot.full { grid-column: 1 / -1; }
    .plot > svg { display: block; margin-top: 6px; width: 100%; height: auto; }
    figcaption p { color: var(--soft); font-size: 13px; }
    .legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 16px; font-size: 13px; margin: 4px 0 2px; }
    .legend li { display: flex; align-items: center; gap: 6px; overflow-wrap: anywhere; }
    .plot text { font-size: 12px; fill: var(--soft); font-variant-numeric: tabular-nums; }
    .plot text.axis { font-weight: 600; }
    .grid { stroke: var(--grid); fill: none; } .base { stroke: var(--soft); fill: none; }
    .area { fill: var(--c); opacity: 0.13; }
    .hint { fill: var(--text); opacity: 0; } .hint:hover { opacity: 0.07; }
    #hint {
      position: fixed; pointer-events: none; background: var(--text); color: var(--card); padding: 6px 10px;
      border-radius: 6px; font-size: 13px; line-height: 1.4; max-width: 320px;
    }
    @media (max-width: 860px) {
      .plots { grid-template-columns: 1fr; } .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); }
      main { padding: 24px 14px; } h1 { font-size: 25px; }
      .plot.full { overflow-x: auto; } .plot.full > svg { min-width: 720px; }
    }
    """

  private static let tables = """
    .scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--rule); border-radius: 10px; }
    .cards { columns: 2 400px; column-gap: 12px; }
    .figures.card { background: var(--card); border-collapse: separate; border-spacing: 0; border: 1px solid var(--rule);
      border-radius: 10px; margin-bottom: 12px; padding-bottom: 6px; break-inside: avoid; }
    .figures.card .group th { padding-top: 10px; padding-bottom: 7px; }
    .figures { border-collapse: collapse; width: 100%; font-size: 14px; }
    .figures th, .figures td { padding: 5px 16px; text-align: right; white-space: nowrap; }
    .figures tbody th { text-align: left; font-weight: 400; }
    .figures thead th { padding-top: 12px; padding-bottom: 8px; }
    .figures thead .sample { vertical-align: -1px; margin-right: 6px; }
    .figures .group th { font-weight: 650; padding-top: 16px; border-bottom: 1px solid var(--rule); }
    .figures tbody tr:not(.group):hover { background: var(--back); }
    .figures td.text { white-space: normal; overflow-wrap: anywhere; }
    .figures .ratio { padding-left: 0; color: var(--soft); font-weight: 400; }
    .figures .better { color: var(--better); } .figures .worse { color: var(--worse); }
    .figures em { font-size: 12px; color: var(--worse); margin-left: 6px; }
    """

  private static let print = """
    @media print {
      body { background: none; font-size: 11px; }
      main { max-width: none; padding: 0; }
      h1 { font-size: 22px; } h2 { margin: 18px 0 8px; break-after: avoid; }
      .plot, .tile, .runs li { break-inside: avoid; }
      .figures tr { break-inside: avoid; } .figures th, .figures td { padding: 2px 8px; }
      * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
    }
    @page { margin: 14mm; }
    """
}
