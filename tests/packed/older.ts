/** A Node that is too old for the package, and what it is asked. */
import { spawnSync } from "node:child_process";

/** The command and arguments that run a file with an older Node; where the machine has none, the present one says that it is older. */
export function olderNode(file: string): [command: string, args: string[]] {
    const older = "/usr/bin/node";
    const version = Number(spawnSync(older, ["-p", "process.versions.node.split('.')[0]"], { encoding: "utf8" }).stdout ?? "24");
    if (version < 24) return [older, [file]];
    const says = 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.20.2"})';
    return [process.execPath, ["--import", says, file]];
}

/** What requiring and importing each part says; a part for workflows is taken by their bundle, and Vitest is not installed. */
export const OLDER = `(async () => {
    const said = {};
    const problem = ({ code, message }) => code + " " + message;
    const { exports: parts } = JSON.parse(require("node:fs").readFileSync("node_modules/remit-lang/package.json", "utf8"));
    for (const part of Object.keys(parts).filter((one) => !/workflow$|vitest$|json$|[*]/.test(one))) {
        const name = "remit-lang" + part.slice(1);
        let required = "required";
        try { require(name); } catch (error) { required = problem(error); }
        said[name] = [required, await import(name).then(() => "imported", problem)];
    }
    console.log(JSON.stringify(said));
})();
`;
