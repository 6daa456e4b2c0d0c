"""The colours and the font that all drawings have in common, on light and on dark paper."""

LIGHT = {
    "ink": "#1f2328",
    "quiet": "#59636e",
    "page": "#ffffff",
    "box": "#f6f8fa",
    "edge": "#818b98",
}
DARK = {
    "ink": "#e6edf3",
    "quiet": "#9da7b3",
    "page": "#0d1117",
    "box": "#161b22",
    "edge": "#6e7681",
}
FONT = "12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
