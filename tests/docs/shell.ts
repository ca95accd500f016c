/**
 * Command lines of shell samples, as words.
 *
 * Boundary: as much of a shell's reading as samples use: quotes, comments, `&&`, pipes, redirections, assignments in front.
 */

/** Each simple command of the text, quotes taken off, redirections and assignments left out. */
export function commandLines(text: string): string[][] {
    return text.split("\n").flatMap((line) => {
        const commands: string[][] = [];
        let words: string[] = [];
        let redirected = false;
        for (const word of wordsOf(line)) {
            if (word === "&&" || word === "|") {
                commands.push(words);
                words = [];
            } else if (word === ">") redirected = true;
            else if (redirected) redirected = false;
            else if (words.length > 0 || !/^[A-Z_]+=/.test(word)) words.push(word);
        }
        commands.push(words);
        return commands.filter((command) => command.length > 0);
    });
}

function wordsOf(line: string): string[] {
    const words: string[] = [];
    let at = 0;
    while (at < line.length) {
        const rest = line.slice(at);
        const space = /^\s+/.exec(rest)?.[0].length ?? 0;
        if (space > 0) at += space;
        else if (rest.startsWith("#")) break;
        else {
            const word = (/^(?:&&|\||>|(?:'[^']*'|"[^"]*"|[^\s'"|>&])+)/.exec(rest)?.[0] ?? rest) as string;
            words.push(word.replace(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ""));
            at += word.length;
        }
    }
    return words;
}
