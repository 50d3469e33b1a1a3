// Starts `compilelint server` and hands it the Python files that are open.
import { commands, ExtensionContext, window, workspace } from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

async function start(): Promise<void> {
  const settings = workspace.getConfiguration("compilelint");
  const server: ServerOptions = { command: settings.get("path", "compilelint"), args: ["server"] };
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: "file", language: "python" },
      { scheme: "vscode-notebook-cell", language: "python" },
    ],
    initializationOptions: {
      workspace: settings.get("workspace"),
      localRules: settings.get("localRules"),
      debounce: settings.get("debounce"),
    },
    synchronize: { fileEvents: workspace.createFileSystemWatcher("**/pyproject.toml") },
  };
  client = new LanguageClient("compilelint", "compilelint", server, options);
  try {
    await client.start();
  } catch (error) {
    const hint = 'Install it with `python -m pip install "compilelint[server]"`, or set `compilelint.path`.';
    void window.showErrorMessage(`compilelint: the server can't be started: ${String(error)}. ${hint}`);
  }
}

async function stop(): Promise<void> {
  const ended = client;
  client = undefined;
  if (ended?.needsStop()) await ended.stop();
}

async function restart(): Promise<void> {
  await stop();
  await start();
}

export async function activate(context: ExtensionContext): Promise<void> {
  context.subscriptions.push(
    commands.registerCommand("compilelint.restart", restart),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("compilelint")) void restart();
    }),
  );
  await start();
}

export const deactivate = stop;
