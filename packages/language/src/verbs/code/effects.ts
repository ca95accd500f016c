/**
 * Verbs with one effect in Remit: files, the web, a model.
 *
 * Boundary: source text. The model is the stage's, else the only one of the block's file, else the one that is set up (`default:`); the machine
 * chooses it.
 */

export const READ = `
import tool Verb_files from "file://workspace"

func read(path: string) -> string {
    Verb_files.read({ path: path }).content
}
`;

export const SAVE = `
import tool Verb_files from "file://workspace"

func save(path: string, input: json) {
    Verb_files.write({
        path: path,
        content: if is_text(input) { input } else { json.text(input, 2) + "\\n" }
    })
    input
}
`;

export const FETCH = `
import tool Verb_web from "webfetch:"

func fetch(url: string) -> string {
    reply = Verb_web.call({ url: url })
    if not reply.ok {
        raise { message: url + " answered with status " + reply.status, status: reply.status }
    }
    reply.body
}
`;

export const ASK = `
import llm Verb_model from "default:"

func ask(prompt: string, input: json = none) {
    model Verb_model
    role "a helpful assistant"
    description "Does what the instruction says with what it is given"
    if input == none {
        return generate({ input: prompt })
    }
    use input as "input"
    generate({ input: prompt })
}
`;

export const SUMMARIZE = `
import llm Verb_model from "default:"

func summarize(input: json) {
    model Verb_model
    role "a careful editor"
    description "Sums up what it is given"
    use input as "text"
    generate({
        input: "Sum up the text in a few sentences. Keep names, numbers and dates as they are."
    })
}
`;
