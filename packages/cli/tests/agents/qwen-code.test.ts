/** qwen-code from npm, handed control by programs. */
import { programs } from "./cases.ts";

programs({
    name: "qwen-code",
    write: (file_path, content) => ({ call: { name: "write_file", input: { file_path, content } } }),
    look: (path) => ({ call: { name: "glob", input: { pattern: "*", path } } }),
    writing: "write_file",
});
