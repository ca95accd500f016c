/**
 * What in a text acts where texts act: addresses, markup, mentions, commands of chats and of shells. `plain` lets none of them in.
 *
 * Boundary: pure; from JSON to the pieces that act. Whether they may stand there is `decide.ts`.
 *
 * ACN1: what could act does: a piece too many is a question, one too few is an attacker's command in the user's name. Prose with commas, full stops, brackets,
 *     quotes, amounts, dates and lists with hyphens has none.
 * ACN2: time is linear in the text.
 */
import type { Json } from "@remit/language";
import { addressesIn, saidIn } from "./addresses.ts";
import { compatible } from "./compatible.ts";

/** More is cut: a message names the piece and does not print it. */
const MOST_SHOWN = 80;

/** Programs that no prose names before a word. */
const PROGRAMS =
    "npx|uvx|pipx|sudo|doas|curl|wget|rm|chmod|chown|mkfs|bash|zsh|powershell|pwsh|cmd\\.exe|eval|iex|irm|ssh|scp|rsync|xargs|crontab|regedit";
/** Programs that prose names, and what they are told to do. */
const TOOLS =
    "npm|pnpm|yarn|pip3?|uv|cargo|gem|go|brew|apt|apt-get|yum|dnf|pacman|choco|winget|git|gh|docker|podman|kubectl|helm|terraform|systemctl|node|deno|bun|python3?|ruby|perl|php|make";
const ACTIONS =
    "i|install|add|ci|run|exec|x|dlx|clone|push|pull|fetch|apply|delete|rm|remove|uninstall|update|upgrade|start|stop|restart|publish|login|create|destroy|reset|checkout|commit|merge|rebase|build|compose|test|clean|all|get|set|pr|\\S+\\.(?:js|ts|py|rb|pl|php|sh)";

const ACTING: readonly RegExp[] = [
    // At the beginning of a line: `/deploy`, `!deploy`, `=HYPERLINK(…)`, `$ ls`, `> quoted`, `# Title`.
    /^[ \t]*(?:[/!=+.\\][\p{L}_]\S*|[$>%|][ \t]*\S+|#{1,6}(?:[ \t]+\S+|$)|PS[ \t]?[A-Z]?:?\S*>)/gmu,
    // `@all`, `#channel`, `!12`, `#12`.
    /(?:^|[^\p{L}\p{N}_])[@#!~][\p{L}\p{N}_][\p{L}\p{N}_-]*/gu,
    // HTML, and what chats write so: `<!here>`.
    /<[\p{L}/!?@#][^<>]*>?/gu,
    /&(?:#x?[0-9a-f]+|[a-z][a-z0-9]*);/giu,
    // Markdown, BBCode, templates.
    /`+[^`]*`*|\*\*|__|~~|!\[|\][ \t]?[[(:]|\[\/?[a-z*]+(?:=[^\]]*)?\]|\{\{|\}\}|\$[{(]|<%|\|[^|\n]*\|/giu,
    /(?:^|\s)[*_][^\s*_](?:[^*_\n]*[^\s*_])?[*_](?=$|[\s.,;:!?])/gmu,
    /^[ \t]*(?:[-*_=][ \t]*){3,}$/gmu,
    // A shell: `a && b`, `x | y`, `; rm`, `--force`, `-rf`, `2>&1`, `FOO=bar cmd`.
    /&&|\|\|?|;[ \t]*(?=[./~$])|[<>]{2}|\d>&\d|(?:^|\s)--?[\p{L}][\p{L}\p{N}-]*(?:=\S*)?|\b[A-Z_][A-Z0-9_]*=\S+/gmu,
    new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${PROGRAMS})[ \\t]+\\S+`, "giu"),
    new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${TOOLS})[ \\t]+(?:${ACTIONS})(?![\\p{L}\\p{N}_])`, "giu"),
    // Signs that no reader sees: control characters, marks of direction, tags.
    /(?![\t\n\r\u00ad])[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu,
];

/** The pieces that act in all texts of a value, names of fields included. */
export function actingIn(json: Json): readonly string[] {
    const found = [...addressesIn(json)];
    for (const one of saidIn(json)) if (typeof one === "string") inText(one, found);
    return found;
}

function inText(text: string, found: string[]): void {
    for (const read of new Set([text, compatible(text.replace(/(?![\t\n\r])[\p{Cc}\p{Cf}]/gu, ""))]))
        for (const acts of ACTING) for (const [piece] of read.matchAll(acts)) found.push(piece.trim().slice(0, MOST_SHOWN));
}
