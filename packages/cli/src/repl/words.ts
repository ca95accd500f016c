/** The commands of the REPL. Data only. */
export const COMMANDS: { readonly [name: string]: { readonly takes?: string; readonly about: string } } = {
    help: { about: "this list" },
    run: { takes: "FILE [INPUT]", about: "run a program of a file; INPUT is JSON or @FILE" },
    trace: { takes: "[full]", about: "what the last run did" },
    why: { takes: "[EXPRESSION]", about: "where the last value, or that of EXPRESSION, comes from" },
    explain: { takes: "[full]", about: "why each byte of the last run's prompts was there" },
    program: { about: "the program that the inputs so far make" },
    clear: { about: "begin a new conversation" },
    quit: { about: "end; so does Ctrl-D" },
};

export const BROWSER = { takes: "TASK", about: "give a server a turn; its answer is `browsed` here" };
