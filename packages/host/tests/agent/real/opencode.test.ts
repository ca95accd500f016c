/** opencode from npm, driven by our own host. */
import { conversation } from "./cases.ts";

conversation({
    name: "opencode",
    self: { name: "OpenCode", version: "1.18.33" },
    write: (filePath, content) => ({ call: { name: "write", input: { filePath, content } } }),
    look: (path) => ({ call: { name: "glob", input: { pattern: "**/*", path } } }),
    search: (path, pattern) => ({ call: { name: "grep", input: { pattern, path } } }),
    writing: "write",
    told: "failed",
    outside: ["PromptResponse.usage"],
});
