// Starts the language server `stead-sym lsp`. Highlighting and snippets need none of this.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const [command, ...args] = workspace.getConfiguration("stead-sym").get("command");
  client = new LanguageClient(
    "stead-sym",
    "stead-sym",
    { command, args },
    { documentSelector: [{ language: "stead" }] }
  );
  return client.start();
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
