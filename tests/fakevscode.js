// `node fakevscode.js BUNDLE PROGRAM`, in a folder with a `model.py`: activates the extension with a stand-in for the
// editor's own module, enough for vscode-languageclient to start the server, and prints what comes of it as JSON.
const Module = require("module");
const said = { commands: [], errors: [], diagnostics: [] };
class Any {
  constructor(...args) {
    this.args = args;
  }
  dispose() {}
  static from() {
    return new Any();
  }
}
const anything = (known) =>
  new Proxy(known, {
    get: (t, k) => {
      if (k in t) return t[k];
      if (typeof k === "symbol") return undefined;
      if (/^on[A-Z]/.test(k)) return () => ({ dispose() {} });
      if (/^register|^create/.test(k)) return () => anything({ dispose() {} });
      return (t[k] = class extends Any {});
    },
  });
const path = require("path");
const uri = (p) => ({
  scheme: "file",
  fsPath: p,
  path: p,
  toString: () => "file://" + p,
  with() {
    return this;
  },
});
const document = {
  uri: uri(path.resolve("model.py")),
  languageId: "python",
  version: 1,
  isClosed: false,
  getText: () => require("fs").readFileSync("model.py", "utf8"),
};
class Emitter {
  constructor() {
    this.listeners = [];
    this.event = (f) => {
      this.listeners.push(f);
      return { dispose() {} };
    };
  }
  fire(v) {
    for (const f of this.listeners) f(v);
  }
  dispose() {}
}
class Kind {
  constructor(value) {
    this.value = value;
  }
  append(p) {
    return new Kind(this.value ? this.value + "." + p : p);
  }
}
Kind.Empty = new Kind("");
for (const k of [
  "QuickFix",
  "Refactor",
  "RefactorExtract",
  "RefactorInline",
  "RefactorRewrite",
  "RefactorMove",
  "Source",
  "SourceOrganizeImports",
  "SourceFixAll",
  "Notebook",
])
  Kind[k] = new Kind(k);
const vscode = anything({
  CodeActionKind: Kind,
  EventEmitter: Emitter,
  CancellationTokenSource: class {
    constructor() {
      this.token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };
    }
    cancel() {}
    dispose() {}
  },
  commands: {
    registerCommand: (name) => {
      said.commands.push(name);
      return { dispose() {} };
    },
    executeCommand() {},
  },
  workspace: anything({
    getConfiguration: () => ({ get: (name, other) => ({ path: process.argv[3], debounce: 0 })[name] ?? other }),
    createFileSystemWatcher: () => anything({ dispose() {} }),
    textDocuments: [document],
    notebookDocuments: [],
    workspaceFolders: [{ uri: uri(process.cwd()), name: "x", index: 0 }],
    getWorkspaceFolder: () => undefined,
  }),
  window: anything({
    showErrorMessage: (m) => {
      said.errors.push(m);
      return Promise.resolve();
    },
    visibleTextEditors: [],
    tabGroups: { all: [], onDidChangeTabs: () => ({ dispose() {} }) },
    createOutputChannel: () => ({
      append() {},
      appendLine: (l) => said.errors.push(l),
      show() {},
      dispose() {},
      info() {},
      error(m) {
        said.errors.push(m);
      },
      warn() {},
      debug() {},
      trace() {},
    }),
  }),
  languages: anything({
    match: () => 10,
    createDiagnosticCollection: () => ({
      set: (u, d) => said.diagnostics.push([String(u), d]),
      delete() {},
      clear() {},
      dispose() {},
      forEach() {},
    }),
  }),
  env: { language: "en", appName: "fake", remoteName: undefined, uiKind: 1 },
  version: "1.99.0",
  Uri: { parse: (s) => uri(s.replace("file://", "")), file: uri },
  extensions: anything({}),
});
const load = Module._load;
Module._load = function (name, ...rest) {
  return name === "vscode" ? vscode : load.call(this, name, ...rest);
};
const extension = require(process.argv[2]);
(async () => {
  await extension.activate({ subscriptions: [] });
  for (let n = 0; n < 600 && !said.diagnostics.some(([, d]) => d && d.length); n++)
    await new Promise((r) => setTimeout(r, 50));
  console.log(
    JSON.stringify({
      commands: said.commands,
      errors: said.errors,
      diagnostics: said.diagnostics.map(([u, d]) => [u, d && d.length]),
    }),
  );
  await extension.deactivate();
  process.exit(0);
})().catch((e) => {
  console.error(e);
  process.exit(1);
});
