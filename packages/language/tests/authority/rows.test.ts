/** The table of authority, against programs whose rows are written down. */
import { describe, expect, test } from "vitest";
import { type AuthorityRow, authorityOf, check, lower, showAuthority } from "../../src/index.ts";
import { load } from "../check/cases.ts";

function rows(files: Record<string, string> | string): AuthorityRow[] {
    const all = typeof files === "string" ? { "main.remit": files } : files;
    const loaded = load(new Map(Object.entries(all)), "main.remit");
    expect(check(loaded).diagnostics.filter((d) => d.severity === "error")).toEqual([]);
    return authorityOf(lower(loaded));
}

/** `who what.method gate by`, bounds, who gives it. */
function short(row: AuthorityRow): string {
    const bounds = row.bounds.map((b) => ` in ${b.arg === undefined ? "" : `${b.arg}:`}${b.patterns.join("|")}`).join("");
    return `${row.principal}: ${row.gate} ${row.name}.${row.method}${bounds} by ${row.by}${row.from === undefined ? "" : ` of ${row.from}`}${row.onward ? " onward" : ""}`;
}

const of = (principal: string, all: readonly AuthorityRow[]): string[] => all.filter((row) => row.principal === principal).map(short);

const TOOLS =
    'import tool Repo from "file://workspace"\nimport tool Mail from "mcp://mail" { send: ask, find: may, drop: never, arg send.to: trusted }\n';

describe("authority", () => {
    test("`user` may what files import, as their clauses say", () => {
        const found = rows(`${TOOLS}main agent A { main func(x) { Repo.read(x) Mail.send({}) } }`);
        expect(found.map(short)).toEqual([
            "user: may Repo.* by user",
            "user: may Mail.* by user",
            "user: ask Mail.send by clause",
            "user: may Mail.find by clause",
            "user: never Mail.drop by clause",
            "user: may A.* by user",
            "user: may endorse.* by user",
        ]);
        expect(found.find((row) => row.method === "send")?.flow).toMatchObject([{ kind: "arg", name: "to" }]);
        expect(found.find((row) => row.method === "find")?.flow).toEqual([]);
        expect(found[2]?.site).toEqual({ file: "main.remit", line: 2, column: 38 });
    });

    test("the table says amounts as they are written, and `main` for the main agent without a name", () => {
        const spend = "spend 200k tokens, 1500 steps, 2500000 bytes, 90 s, 0.5 usd";
        const text = showAuthority(rows(`${TOOLS}main agent { remit { may Repo.read  ${spend} } main func(x) { Repo.read(x) } }`));
        expect(text).toContain("main (spend 200k tokens, 1.5k steps, 2.5M bytes, 90 s, 0.5 usd)");
        expect(text).toContain("main (agent main.remit#main)");
        expect(text).not.toContain("__main");
    });

    test("a remit: gates, bounds, clauses, `never`, the model line, spending", () => {
        const found = rows(`${TOOLS}import llm M from "mock:"
agent Fixer {
    remit { may Repo.read  ask Repo.write in "src/**"  may Mail  never Repo.undo  may endorse  spend 10k tokens, 2 min  flow strict }
    model M role "r" description "d"
    func go(x) { Repo.read(x) Repo.write({ path: x, content: x }) Mail.send({}) generate({ input: "x" }) endorse x as trusted because "y" }
}
main agent A { main func(x) { Fixer.go(x) } }`);
        expect(of("Fixer", found)).toEqual([
            "Fixer: may Repo.read by remit",
            "Fixer: ask Repo.write in src/** by remit",
            "Fixer: may Mail.* by remit",
            "Fixer: ask Mail.send by clause",
            "Fixer: may Mail.find by clause",
            "Fixer: never Mail.drop by clause",
            "Fixer: may M.* by model line",
            "Fixer: never Repo.undo by remit",
            "Fixer: may endorse.* by remit",
        ]);
        expect(found.filter((row) => row.principal === "Fixer").every((row) => row.strict && row.spend?.time === 120_000)).toBe(true);
    });

    test("`all`, a named remit, and one that gives nothing", () => {
        const found = rows(`${TOOLS}remit Wide { ask all }
agent One { remit Wide func go(x) { Repo.read(x) } }
agent None { remit {} func go(x) { x } }
main agent A { main func(x) { One.go(x) None.go(x) } }`);
        expect(of("One", found)).toContain("One: ask Repo.* by remit");
        expect(of("One", found)).toContain("One: never Mail.drop by clause");
        expect(of("None", found)).toEqual(["None: never .* by remit"]);
    });

    test("an import narrows: what both remits give, with both bounds", () => {
        const found = rows({
            "main.remit":
                'import agent Helper from "./lib/helper.remit" { remit { may Repo.write in "src/a/**", Repo.list  ask Repo.read  never Mail.send } }\nmain agent A { main func(x) { Helper.go(x) } }',
            "lib/helper.remit": `${TOOLS}agent Helper { remit { may Repo in "src/**"  may Mail.find, Mail.send } func go(x) { Repo.read(x) } }`,
        });
        expect(of("Helper", found)).toEqual([
            "Helper: may Repo.write in src/** in src/a/** by remit",
            "Helper: may Repo.list in src/** by remit",
            "Helper: ask Repo.read in src/** by remit",
            "Helper: never Mail.send by remit",
        ]);
    });

    test("delegations and arguments with their sites, never wider than the giver", () => {
        const found = rows(`${TOOLS}agent Fixer { remit { may Repo.read } func go(x) { x.write("a", "b") Repo.read({ path: "a" }) } }
agent Boss {
    remit { may Repo.write in "src/**", Fixer.go }
    func go() {
        delegate Repo.write in "src/a/**" to Fixer onward { Fixer.go(1) }
        Fixer.go(Repo)
    }
}
main agent A {
    main func(x) {
        Boss.go()
        r = Repo.only(read, write in "docs/**")
        Fixer.go(r)
        Fixer.go(r.only(write))
        Fixer.go([Repo])
        delegate all to Boss { Boss.go() }
    }
}`);
        expect(of("Fixer", found)).toEqual([
            "Fixer: may Repo.read by remit",
            "Fixer: may Repo.write in src/a/** in src/** by delegate of Boss onward",
            "Fixer: may Repo.write in src/** by argument of Boss",
            "Fixer: may Repo.read by argument of user",
            "Fixer: may Repo.write in docs/** by argument of user",
            "Fixer: may Repo.write in docs/** by argument of user",
        ]);
        expect(found.find((row) => row.by === "delegate")?.site).toMatchObject({ line: 7, column: 9 });
        expect(of("Boss", found)).toContain("Boss: may Mail.* by delegate of user");
        expect(of("Boss", found)).not.toContain("Boss: may Boss.* by delegate of user");
    });

    test("agents of one name are told apart by their files, in the text too", () => {
        const fixer = (remit: string): string =>
            `import tool Repo from "file://workspace"\nmain agent Fixer { remit { ${remit} } main func() { Repo.read({ path: "a" }) } }\n`;
        const found = rows({
            "main.remit": `import agent Fixer from "./a.remit"\nimport agent Sub from "./sub.remit"\nmain agent A { main func() { Fixer()\nSub() } }`,
            "a.remit": fixer("may Repo.read"),
            "sub.remit": `import agent Fixer from "./b.remit"\nmain agent Sub { main func() { Fixer() } }`,
            "b.remit": fixer('may Repo.read in "b/**"'),
        });
        const text = showAuthority(found);
        expect(text).toMatch(/^Fixer of a\.remit +Repo\.read \(/m);
        expect(text).toMatch(/^Fixer of b\.remit +Repo\.read in "b\/\*\*"/m);
        expect(text).not.toContain("user of");
    });

    test("as text", () => {
        const text = showAuthority(
            rows(`${TOOLS}agent Fixer { remit { may Repo.read in "a/**"  spend 5 usd } func go(x) { Repo.read(x) } }
main agent A { main func(x) { Fixer.go(x) } }`),
        );
        expect(text).toContain("Fixer (spend 5 usd)");
        expect(text).toContain('Repo.read in "a/**" (tool file://workspace)');
        expect(text).toContain("arg send.to: trusted");
    });

    test("counts as text: of a line, of the lines that cross, of a clause", () => {
        const text = showAuthority(
            rows({
                "fixer.remit": `import tool Pay from "mcp://pay" { find: at most 9 }
agent Fixer { remit { may Pay.refund in amount: 0..5 at most 3 } func go(x) { Pay.refund({ id: x }) } }`,
                "main.remit": `import tool Pay from "mcp://pay"
import agent Fixer from "./fixer.remit" { remit { may Pay.refund once by id } }
main agent A { main func(x) { Fixer.go(x) } }`,
            }),
        );
        expect(text).toContain("Pay.refund in amount: 0..5 at most 3 once by id (tool mcp://pay)");
        expect(text).toContain("find: at most 9");
    });
});
