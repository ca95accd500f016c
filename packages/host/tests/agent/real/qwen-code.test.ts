/** qwen-code from npm, driven by our own host. */
import { conversation } from "./cases.ts";

conversation({
    name: "qwen-code",
    self: { name: "qwen-code", version: "0.24.4" },
    write: (file_path, content) => ({ call: { name: "write_file", input: { file_path, content } } }),
    look: (path) => ({ call: { name: "glob", input: { pattern: "**/*", path } } }),
    search: (path, pattern) => ({ call: { name: "grep_search", input: { pattern, path } } }),
    writing: "write_file",
    outside: [
        "NewSessionResponse.models",
        "LoadSessionResponse.models",
        "method craft/drainMidTurnQueue",
        "method qwen/notify/session/prompt-suggestion",
    ],
});
